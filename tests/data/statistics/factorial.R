# Reference values for factorial and dose designs, on the random studies of factorial_designs.py:
#   python tests/data/statistics/factorial_designs.py | Rscript --vanilla tests/data/statistics/factorial.R > \
#     tests/data/statistics/factorial.csv
# Type III by afex; estimates and errors by emmeans with sandwich's HC2, which in a model of cell means is s^2 / n of each;
# degrees of freedom and the Welch-James test (Lix & Keselman, 1995) by matrices here, independently of the project's code.

suppressPackageStartupMessages({ library(afex); library(emmeans); library(sandwich) })
options(warn = -1)

emit <- function(name, statistic, values) {
  cat(name, ",", statistic, ",", paste(sprintf("%.12g", as.numeric(values)), collapse = ";"), "\n", sep = "")
}

# Johansen's statistic over a matrix of contrasts, for a list of cells in the order of its columns.
welch.james <- function(C, y) {
  n <- sapply(y, length)
  S <- diag(sapply(y, var) / n)
  m <- sapply(y, mean)
  inner <- solve(C %*% S %*% t(C))
  T <- t(C %*% m) %*% inner %*% C %*% m
  q <- nrow(C)
  A <- 0
  for (j in seq_along(n)) {
    Q <- matrix(0, length(n), length(n))
    Q[j, j] <- 1
    M <- S %*% t(C) %*% inner %*% C %*% Q
    A <- A + (sum(diag(M %*% M)) + sum(diag(M))^2) / (n[j] - 1) / 2
  }
  f <- T / (q + 2 * A - 6 * A / (q + 2))
  df <- q * (q + 2) / (3 * A)
  c(f, q, df, pf(f, q, df, lower.tail = FALSE))
}

# A contrast by emmeans and HC2, with Satterthwaite's degrees of freedom, and adjusted p and limits of the family.
contrast.of <- function(grid, weights, y, n.means = 2, n.tests = 1) {
  found <- as.data.frame(contrast(grid, list(c = weights)))
  n <- sapply(y, length)
  parts <- weights^2 * sapply(y, var) / n
  df <- sum(parts)^2 / sum(parts^2 / (n - 1))
  t <- found$estimate / found$SE
  # qtukey stops at four digits, so its equation is solved; for two means the range is t.
  tail <- function(t) if (n.means == 2) 2 * pt(-t, df) else ptukey(sqrt(2) * t, n.means, df, lower.tail = FALSE)
  p <- min(1, n.tests * tail(abs(t)))
  level <- 0.05 / n.tests
  half <- found$SE * if (n.means == 2) qt(1 - level / 2, df) else {
    exp(uniroot(function(x) log(tail(exp(x)) / level), log(c(1, 100)), tol = 1e-15, maxiter = 1e4)$root)
  }
  c(found$estimate, found$SE, df, 2 * pt(-abs(t), df), p, found$estimate - half, found$estimate + half)
}

marginal <- function(cells, factor, level) ifelse(cells[[factor]] == level, 1 / sum(cells[[factor]] == level), 0)

all.data <- read.csv(file("stdin"), colClasses = c(x = "character", y = "character", z = "character"))
cat("design,statistic,values\n")
for (name in unique(all.data$design)) {
  data <- all.data[all.data$design == name, ]
  factors <- Filter(function(f) any(data[[f]] != ""), c("x", "y", "z"))
  data$cell <- apply(data[factors], 1, paste, collapse = "-")
  cells <- unique(data[c(factors, "cell", "dose")])
  y <- lapply(cells$cell, function(cell) data$value[data$cell == cell])
  data$cell <- factor(data$cell, levels = cells$cell)
  model <- lm(value ~ 0 + cell, data)
  grid <- emmeans(model, "cell", vcov. = vcovHC(model, type = "HC2"))
  if (length(factors) > 1) {
    data$id <- seq_len(nrow(data))
    table <- suppressMessages(aov_car(as.formula(paste("value ~", paste(factors, collapse = "*"), "+ Error(id)")), data,
                                      type = 3, return = "univariate"))
    for (term in setdiff(rownames(table), c("(Intercept)", "Residuals"))) {
      emit(name, paste0("anova.", term), c(table[term, c("F value", "Df")], table["Residuals", "Df"], table[term, "Pr(>F)"]))
    }
  }
  for (f in factors) {
    levels <- unique(cells[[f]])
    for (level in levels) emit(name, paste("mean", f, level, sep = "."), contrast.of(grid, marginal(cells, f, level), y))
    rows <- t(sapply(levels[-1], function(l) marginal(cells, f, l) - marginal(cells, f, levels[1])))
    emit(name, paste0("joint.", f), welch.james(rows, y))
    for (j in seq_along(levels)) for (i in seq_len(j - 1)) {
      weights <- marginal(cells, f, levels[j]) - marginal(cells, f, levels[i])
      emit(name, paste("pair", levels[j], levels[i], sep = "."), contrast.of(grid, weights, y, length(levels)))
    }
  }
  if (length(factors) > 1) for (pair in combn(factors, 2, simplify = FALSE)) {
    ours <- unique(cells[[pair[1]]])
    theirs <- unique(cells[[pair[2]]])
    at <- function(a, b) {
      is.in <- cells[[pair[1]]] == a & cells[[pair[2]]] == b
      is.in / sum(is.in)
    }
    tetrad <- function(a, b, c, d) (at(a, c) - at(b, c)) - (at(a, d) - at(b, d))
    n.tests <- choose(length(ours), 2) * choose(length(theirs), 2)
    rows <- NULL
    for (a in ours[-1]) for (c in theirs[-1]) rows <- rbind(rows, tetrad(a, ours[1], c, theirs[1]))
    emit(name, paste(c("joint", pair), collapse = "."), welch.james(rows, y))
    for (j in seq_along(ours)) for (i in seq_len(j - 1)) for (l in seq_along(theirs)) for (k in seq_len(l - 1)) {
      weights <- tetrad(ours[j], ours[i], theirs[l], theirs[k])
      emit(name, paste("tetrad", ours[j], ours[i], theirs[l], theirs[k], sep = "."),
           contrast.of(grid, weights, y, 2, n.tests))
    }
  }
  if (any(!is.na(data$dose))) {
    doses <- sort(unique(cells$dose))
    n.at <- sapply(doses, function(d) sum(cells$dose == d))
    share <- function(of.dose) of.dose[match(cells$dose, doses)] / n.at[match(cells$dose, doses)]
    centred <- doses - mean(doses)
    emit(name, "trend", contrast.of(grid, share(centred / sum(centred^2)), y))
    # emmeans' own contrasts of unequally spaced doses: the polynomials beyond the first.
    curves <- t(apply(t(contr.poly(length(doses), scores = doses))[-1, , drop = FALSE], 1, share))
    emit(name, "departure", welch.james(curves, y))
    emit(name, "in_sd", sum(share(centred / sum(centred^2)) * sapply(y, mean)) * diff(range(doses)) /
           sqrt(mean(sapply(y, var))))
  }
}
