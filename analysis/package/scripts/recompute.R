# Recompute the report's main tests from the CSV files of this package, and lay them beside the report's numbers.
#
# Run in the folder of the package, or name it:  Rscript scripts/recompute.R [FOLDER]
# Base R alone. Nothing here reads the platform that made the report; report/numbers.csv, with the report's own
# numbers, is read at the end and only to compare.

arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments)) arguments[1] else "."
alpha <- 0.05
tie.within <- 1e-9 # values of a user that differ by less are equal
found <- new.env(hash = TRUE)

keep <- function(of, test, a, b, ...) {
  for (statistic in names(list(...))) {
    value <- list(...)[[statistic]]
    if (length(value) == 1 && is.finite(value)) {
      assign(paste(of, test, a, b, statistic, sep = "\t"), value, envir = found)
    }
  }
}

read <- function(name) {
  read.csv(file.path(folder, name), check.names = FALSE, stringsAsFactors = FALSE, na.strings = "", encoding = "UTF-8")
}

# R's qtukey stops at about four digits; ptukey carries more.
critical.value <- function(k, df) {
  if (k == 2) return(sqrt(2) * qt(1 - alpha / 2, df))
  start <- qtukey(1 - alpha, k, df)
  excess <- function(q) ptukey(q, k, df, lower.tail = FALSE) - alpha
  uniroot(excess, c(start * 0.99, start * 1.01), extendInt = "downX", tol = 1e-12)$root
}

range.tail <- function(q, k, df) {
  if (k == 2) return(2 * pt(q / sqrt(2), df, lower.tail = FALSE))
  min(1, max(0, ptukey(q, k, df, lower.tail = FALSE)))
}

squares <- function(x) sum((x - mean(x))^2)

describe <- function(of, groups) {
  for (name in names(groups)) {
    values <- groups[[name]]
    quartiles <- unname(quantile(values, c(.25, .5, .75), type = 7))
    keep(of, "described", name, "", n = length(values), mean = mean(values), sd = sd(values),
         median = quartiles[2], q1 = quartiles[1], q3 = quartiles[3])
  }
}

variance.tests <- function(of, groups) {
  k <- length(groups)
  if (k < 2 || sum(sapply(groups, squares)) < 1e-12) return(invisible())
  value <- unlist(groups, use.names = FALSE)
  group <- factor(rep(names(groups), lengths(groups)), levels = names(groups))
  table <- summary(aov(value ~ group))[[1]]
  between <- table[["Sum Sq"]][1]
  within <- table[["Sum Sq"]][2]
  df.within <- table[["Df"]][2]
  keep(of, "anova", "", "", f = table[["F value"]][1], df_between = table[["Df"]][1], df_within = df.within,
       p = table[["Pr(>F)"]][1], eta_squared = between / (between + within))

  means <- sapply(groups, mean)
  variances <- sapply(groups, var)
  n <- lengths(groups)
  critical <- critical.value(k, df.within)
  for (i in seq_len(k - 1)) for (j in (i + 1):k) {
    a <- names(groups)[i]
    b <- names(groups)[j]
    difference <- unname(means[i] - means[j])
    half <- sqrt(within / df.within / 2 * (1 / n[[i]] + 1 / n[[j]]))
    keep(of, "tukey", a, b, difference = difference, p = range.tail(abs(difference) / half, k, df.within),
         ci_low = difference - critical * half, ci_high = difference + critical * half)
    # Games and Howell: each pair has its own variance and its own degrees of freedom.
    of.a <- variances[[i]] / n[[i]]
    of.b <- variances[[j]] / n[[j]]
    if (of.a + of.b < 1e-15) next
    df <- (of.a + of.b)^2 / (of.a^2 / (n[[i]] - 1) + of.b^2 / (n[[j]] - 1))
    half <- sqrt((of.a + of.b) / 2)
    own <- critical.value(k, df)
    keep(of, "games_howell", a, b, difference = difference, df = df,
         p = range.tail(abs(difference) / half, k, df),
         ci_low = difference - own * half, ci_high = difference + own * half)
  }

  if (all(variances > 1e-15)) {
    test <- oneway.test(value ~ group, var.equal = FALSE)
    keep(of, "welch", "", "", f = unname(test$statistic), df_between = unname(test$parameter[1]),
         df_within = unname(test$parameter[2]), p = test$p.value)
  }

  deviation <- round(abs(value - ave(value, group, FUN = median)), 12)
  if (sum(tapply(deviation, group, squares)) > 1e-12) {
    table <- summary(aov(deviation ~ group))[[1]]
    keep(of, "brown_forsythe", "", "", f = table[["F value"]][1], df_between = table[["Df"]][1],
         df_within = table[["Df"]][2], p = table[["Pr(>F)"]][1])
  }
}

rank.test <- function(of, groups) {
  value <- unlist(groups, use.names = FALSE)
  if (length(groups) < 2 || length(unique(value)) == 1) return(invisible())
  test <- kruskal.test(value, factor(rep(names(groups), lengths(groups))))
  keep(of, "kruskal", "", "", h = unname(test$statistic), df = unname(test$parameter), p = test$p.value)
}

# The planned contrast: a t test with the variance pooled over all conditions, and Welch's beside it.
contrast.test <- function(of, groups, higher, lower, sides) {
  named <- c(higher, lower)
  if (!all(named %in% names(groups))) return(invisible())
  weights <- c(rep(1 / length(higher), length(higher)), rep(-1 / length(lower), length(lower)))
  n <- lengths(groups)[named]
  difference <- sum(weights * sapply(groups[named], mean))
  keep(of, "contrast", "", "", difference = difference)
  df.within <- sum(lengths(groups) - 1)
  ms.within <- sum(sapply(groups, squares)) / df.within
  own <- weights^2 * sapply(groups[named], var) / n
  tests <- list(contrast = c(ms.within * sum(weights^2 / n), df.within),
                contrast_welch = c(sum(own), sum(own)^2 / sum(own^2 / (n - 1))))
  for (test in names(tests)) {
    error <- sqrt(tests[[test]][1])
    df <- tests[[test]][2]
    if (error^2 < 1e-15) next
    t <- difference / error
    half <- qt(1 - alpha / sides, df) * error
    p <- if (sides == 1) pt(t, df, lower.tail = FALSE) else 2 * pt(abs(t), df, lower.tail = FALSE)
    keep(of = of, test = test, a = "", b = "", t = t, df = df, p = p, ci_low = difference - half,
         ci_high = if (sides == 1) NA else difference + half)
  }
}

# Two-sided sign tests between every pair over users, with Holm's correction over all pairs.
sign.tests <- function(of, values) {
  rows <- list()
  for (i in seq_len(length(values) - 1)) for (j in seq_along(values)[-seq_len(i)]) {
    difference <- values[[i]] - values[[j]]
    difference <- difference[!is.na(difference)]
    n.a <- sum(difference > tie.within)
    n.b <- sum(difference < -tie.within)
    if (n.a + n.b == 0) next
    p <- min(1, 2 * pbinom(max(n.a, n.b) - 1, n.a + n.b, 0.5, lower.tail = FALSE))
    rows[[length(rows) + 1]] <- list(a = names(values)[i], b = names(values)[j], n_a = n.a, n_b = n.b,
                                     n_ties = length(difference) - n.a - n.b, p = p)
  }
  adjusted <- p.adjust(sapply(rows, function(row) row$p), method = "holm")
  for (place in seq_along(rows)) {
    row <- rows[[place]]
    keep(of, "sign_test", row$a, row$b, n_a = row$n_a, n_b = row$n_b, n_ties = row$n_ties, p_unadjusted = row$p,
         p = adjusted[place])
  }
}

orders.of <- function(n) {
  if (n == 1) return(matrix(1))
  smaller <- orders.of(n - 1)
  do.call(rbind, lapply(seq_len(n), function(first) cbind(first, smaller + (smaller >= first))))
}

# Kendall's tau-b, and its p from all orders of the algorithms.
tau.b <- function(of, metric, x, y) {
  names.of.both <- intersect(names(x), names(y))
  k <- length(names.of.both)
  if (k < 2) return(invisible())
  x <- round(x[names.of.both], 10)
  y <- round(y[names.of.both], 10)
  signs.x <- sign(outer(x, x, "-"))
  signs.y <- sign(outer(y, y, "-"))
  untied <- sqrt(sum(signs.x^2) * sum(signs.y^2))
  if (untied == 0) return(invisible())
  observed <- sum(signs.x * signs.y)
  p <- NA
  if (k <= 8) {
    sums <- apply(orders.of(k), 1, function(order) sum(signs.x * signs.y[order, order]))
    p <- mean(abs(sums) >= abs(observed))
  }
  keep(of, "tau_b", metric, "", coefficient = observed / untied, p = p)
}

conditions <- as.character(read("data/conditions.csv")[["label"]])
people <- read("data/analysed.csv")

variables <- names(people)[-(1:2)]
perceived <- list()
for (variable in variables) {
  column <- as.numeric(people[[variable]])
  # Who has no score of a scale has an empty cell.
  groups <- lapply(conditions, function(name) column[people[["condition"]] == name & !is.na(column)])
  names(groups) <- conditions
  groups <- groups[lengths(groups) > 0]
  describe(variable, groups)
  variance.tests(variable, groups[lengths(groups) > 1])
  if (length(groups)) rank.test(variable, groups)
  perceived[[variable]] <- sapply(groups, mean)
}

if (file.exists(file.path(folder, "data/contrast.csv"))) {
  planned <- read("data/contrast.csv")
  variable <- planned[["variable"]][1]
  column <- as.numeric(people[[variable]])
  groups <- lapply(conditions, function(name) column[people[["condition"]] == name & !is.na(column)])
  names(groups) <- conditions
  set <- function(name) as.character(planned[["condition"]][planned[["set"]] == name])
  contrast.test(variable, groups[lengths(groups) > 1], set("higher"), set("lower"), planned[["sides"]][1])
}

users <- read("data/run-users.csv")
objective <- list()
for (profile.length in sort(unique(users[["profile_length"]]))) {
  own <- users[users[["profile_length"]] == profile.length, ]
  for (kind in c("recall", "fallout")) {
    key <- if (profile.length > 0) paste0(kind, "@profile", profile.length) else kind
    cases <- own[[paste0("cases.", kind)]]
    values <- lapply(conditions, function(name) as.numeric(own[[paste0(kind, ".", name)]]))
    names(values) <- conditions
    objective[[key]] <- numeric(0)
    if (sum(cases) > 0) {
      objective[[key]] <- sapply(values, function(column) sum(column * cases, na.rm = TRUE) / sum(cases))
      for (name in conditions) {
        given <- list(of = key, test = "value", a = name, b = "")
        given[[kind]] <- objective[[key]][[name]]
        do.call(keep, given)
      }
      if (length(conditions) > 1) sign.tests(key, values)
    }
  }
}

for (variable in variables) for (key in names(objective)) {
  if (length(perceived[[variable]]) && length(objective[[key]])) {
    tau.b(variable, key, perceived[[variable]], if (startsWith(key, "fallout")) -objective[[key]] else objective[[key]])
  }
}

reported <- read("report/numbers.csv")
for (head in c("of", "test", "a", "b", "statistic")) reported[[head]][is.na(reported[[head]])] <- ""
cat("of", "test", "a", "b", "statistic", "recomputed", "report\n", sep = "\t")
differing <- 0
largest <- 0
for (place in seq_len(nrow(reported))) {
  row <- reported[place, ]
  key <- paste(row$of, row$test, row$a, row$b, row$statistic, sep = "\t")
  own <- get0(key, envir = found, inherits = FALSE)
  cat(key, if (is.null(own)) "none" else format(own, digits = 10), format(row$value, digits = 10), sep = "\t")
  cat("\n")
  # With few degrees of freedom R's ptukey carries five digits.
  if (is.null(own) || abs(own - row$value) > 1e-5 * abs(row$value) + 1e-7) {
    differing <- differing + 1
  } else {
    largest <- max(largest, abs(own - row$value))
  }
}
cat(sprintf("# %d of %d numbers agree; largest difference %.2g\n", nrow(reported) - differing, nrow(reported), largest))
quit(status = if (differing > 0) 1 else 0)
