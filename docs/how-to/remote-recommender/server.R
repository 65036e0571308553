# A recommender behind HTTP in R, with plumber: the items of the people who rated most of the profile's items.
#
# Debian: apt install r-cran-plumber r-cran-jsonlite r-cran-digest. Elsewhere, in R:
#
#   install.packages(c("plumber", "jsonlite", "digest"))
#   Rscript -e 'plumber::pr_run(plumber::pr("server.R"), port = 8200)'
#
# It reads items.jsonl, which manage.py export_items wrote, and ratings.csv with the columns user and item.

catalogue <- digest::digest(file = "items.jsonl", algo = "sha256")
ids <- vapply(readLines("items.jsonl"), function(line) jsonlite::fromJSON(line)$item, "", USE.NAMES = FALSE)
ratings <- read.csv("ratings.csv", colClasses = "character")
ratings <- ratings[ratings$item %in% ids, ]
users <- factor(ratings$user)
rated <- matrix(0, nlevels(users), length(ids), dimnames = list(NULL, ids))
rated[cbind(as.integer(users), match(ratings$item, ids))] <- 1
# Everything that determines a list belongs into the version.
version <- substr(digest::digest(list(catalogue, ratings, "shared users 1"), algo = "sha256"), 1, 16)
max_depth <- 500

#* @get /about
#* @serializer unboxedJSON
function() {
  list(protocol = "parallax-recommender/1", version = version, catalogue = catalogue,
       deterministic = TRUE, max_depth = max_depth)
}

#* @post /recommend
#* @parser octet
#* @serializer unboxedJSON list(digits = NA)
function(req, res) {
  # Read here and not by plumber, which answers 500 to what is no JSON; it logs that it has no parser.
  body <- tryCatch(jsonlite::fromJSON(req$postBody), error = function(problem) NULL)
  is_valid <- is.list(body) && is.data.frame(body$profile) && is.numeric(body$n) &&
    body$n >= 1 && body$n <= max_depth && is.character(body$request)
  if (!is_valid) {
    res$status <- 400
    return(list(error = "request, n or profile is missing or wrong."))
  }
  n_shared <- rowSums(rated[, intersect(body$profile$item, ids), drop = FALSE])
  scores <- drop(n_shared %*% rated)
  scores[ids %in% unlist(body$exclude)] <- -Inf
  best <- head(order(-scores), body$n)
  items <- data.frame(item = ids[best], score = unname(scores[best]))
  list(request = body$request, version = version, items = items)
}
