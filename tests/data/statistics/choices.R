# Reference values for choices and behaviour, on the random studies of choice_designs.py:
#   python tests/data/statistics/choice_designs.py | Rscript --vanilla tests/data/statistics/choices.R > \
#     tests/data/statistics/choices.csv
# fisher.test and prop.test of base R, survival's clogit. Newcombe's interval is made of prop.test's Wilson intervals.
# The estimating equations are solved by matrices here, after Liang & Zeger (1986) with the moment estimates that
# statsmodels documents, and Mancl & DeRouen (2001), whose variance geepack does not have.

suppressPackageStartupMessages(library(survival))
options(warn = -1)

emit <- function(name, statistic, values) {
  cat(name, ",", statistic, ",", paste(sprintf("%.12g", as.numeric(values)), collapse = ";"), "\n", sep = "")
}

wilson <- function(x, n, level) as.numeric(prop.test(x, n, conf.level = level, correct = FALSE)$conf.int)

newcombe <- function(x, n, level) {
  p <- x / n
  first <- wilson(x[1], n[1], level)
  second <- wilson(x[2], n[2], level)
  d <- p[1] - p[2]
  c(d - sqrt((p[1] - first[1])^2 + (second[2] - p[2])^2), d + sqrt((first[2] - p[1])^2 + (p[2] - second[1])^2))
}

# Means of the items by condition with an exchangeable correlation, and Mancl and DeRouen's variance.
gee <- function(y, condition, person) {
  X <- outer(condition, unique(condition), "==") * 1
  people <- split(seq_along(y), factor(person, unique(person)))
  p <- ncol(X)
  beta <- solve(t(X) %*% X, t(X) %*% y)
  alpha <- 0
  for (step in 1:200) {
    r <- y - X %*% beta
    scale <- sum(r^2) / (length(y) - p)
    n.pairs <- sum(sapply(people, function(i) length(i) * (length(i) - 1) / 2))
    products <- sum(sapply(people, function(i) (sum(r[i])^2 - sum(r[i]^2)) / 2))
    alpha <- products / scale / (n.pairs - p)
    inverse <- lapply(people, function(i) solve(matrix(alpha, length(i), length(i)) + diag(1 - alpha, length(i))))
    bread <- Reduce(`+`, Map(function(i, V) t(X[i, , drop = FALSE]) %*% V %*% X[i, , drop = FALSE], people, inverse))
    right <- Reduce(`+`, Map(function(i, V) t(X[i, , drop = FALSE]) %*% V %*% y[i], people, inverse))
    before <- beta
    beta <- solve(bread, right)
    if (max(abs(beta - before)) < 1e-14) break
  }
  meat <- Reduce(`+`, Map(function(i, V) {
    D <- X[i, , drop = FALSE]
    H <- D %*% solve(bread) %*% t(D) %*% V
    s <- t(D) %*% V %*% solve(diag(length(i)) - H, y[i] - D %*% beta)
    s %*% t(s)
  }, people, inverse))
  list(means = beta, variance = solve(bread) %*% meat %*% solve(bread))
}

all.data <- read.csv(file("stdin"), colClasses = c(design = "character", kind = "character", group = "character"))
cat("design,statistic,values\n")
for (name in unique(all.data$design)) {
  data <- all.data[all.data$design == name, ]

  picked <- data[data$kind == "picked", ]
  x <- picked$a
  n <- picked$b
  k <- length(x)
  level <- 1 - 0.05 / choose(k, 2)
  emit(name, "exact", fisher.test(rbind(x, n - x), workspace = 2e8)$p.value)
  score <- prop.test(x, n, correct = FALSE)
  emit(name, "score", c(score$statistic, score$parameter, score$p.value))
  for (a in 1:(k - 1)) for (b in (a + 1):k) {
    emit(name, paste0("newcombe.", picked$group[a], picked$group[b]), newcombe(x[c(a, b)], n[c(a, b)], level))
  }

  opened <- data[data$kind == "opened", ]
  y <- unlist(Map(function(a, b) rep(c(1, 0), c(a, b - a)), opened$a, opened$b))
  person <- rep(seq_len(nrow(opened)), opened$b)
  fit <- gee(y, rep(opened$group, opened$b), person)
  emit(name, "gee.means", fit$means)
  emit(name, "gee.errors", sqrt(diag(fit$variance)))

  pick <- data[data$kind == "pick", ]
  fit <- summary(clogit(a ~ b + log2(1 + c) + strata(group), pick, control = coxph.control(eps = 1e-14)))$conf.int
  emit(name, "clogit.rank", fit[1, c(1, 3, 4)])
  emit(name, "clogit.popularity", fit[2, c(1, 3, 4)])
}
