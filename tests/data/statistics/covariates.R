# Reference values for covariates, interviewers, losses, levels of aggregation and mediation, on the random studies of
# covariate_designs.py:
#   python tests/data/statistics/covariate_designs.py | Rscript --vanilla tests/data/statistics/covariates.R > \
#     tests/data/statistics/covariates.csv
# Models by lm, lme4 and lmerTest; bounds and clustered errors written out here, independently of the project's code.

suppressPackageStartupMessages({ library(lme4); library(lmerTest) })
options(warn = -1)

ignore <- list(check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore", check.nobs.vs.rankZ = "ignore",
               check.conv.grad = "ignore", check.conv.hess = "ignore", check.conv.singular = "ignore")
precise <- do.call(lmerControl, c(list(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5)), ignore))

emit <- function(name, statistic, values) {
  cat(name, ",", statistic, ",", paste(sprintf("%.10g", as.numeric(values)), collapse = ";"), "\n", sep = "")
}

best_fit <- function(formula, data, n_theta) {
  starts <- expand.grid(rep(list(c(0.1, 1)), n_theta))
  ends <- lapply(seq_len(nrow(starts)), function(i) {
    lme4::lmer(formula, data, control = precise, start = as.numeric(starts[i, ]))
  })
  ends[[which.max(vapply(ends, function(fit) as.numeric(logLik(fit)), 0))]]
}

f_of <- function(smaller, larger) {
  table <- anova(smaller, larger)
  c(table$F[2], table$Df[2], table$Res.Df[2], table$`Pr(>F)`[2])
}

ancova <- function(name, people) {
  k <- nlevels(people$condition)
  plain <- lm(value ~ 0 + condition, people)
  full <- lm(value ~ 0 + condition + age + group, people)
  emit(name, "ancova.unadjusted", f_of(lm(value ~ 1, people), plain))
  emit(name, "ancova.adjusted", f_of(lm(value ~ age + group, people), full))
  emit(name, "ancova.age", f_of(lm(value ~ 0 + condition + group, people), full))
  emit(name, "ancova.group", f_of(lm(value ~ 0 + condition + age, people), full))
  emit(name, "ancova.slopes", f_of(full, lm(value ~ condition * (age + group), people)))
  # Adjusted means: predictions for everybody as if in one condition, averaged.
  weights <- t(vapply(levels(people$condition), function(level) {
    everybody <- transform(people, condition = factor(level, levels(people$condition)))
    colMeans(model.matrix(~ 0 + condition + age + group, everybody))
  }, numeric(length(coef(full)))))
  emit(name, "ancova.means", weights %*% coef(full))
  emit(name, "ancova.means_se", sqrt(diag(weights %*% vcov(full) %*% t(weights))))
  pairs <- combn(k, 2)
  differences <- weights[pairs[1, ], , drop = FALSE] - weights[pairs[2, ], , drop = FALSE]
  estimate <- as.numeric(differences %*% coef(full))
  se <- sqrt(diag(differences %*% vcov(full) %*% t(differences)))
  p <- 2 * pt(-abs(estimate / se), full$df.residual)
  emit(name, "ancova.pairs", estimate)
  emit(name, "ancova.pairs_se", se)
  emit(name, "ancova.pairs_p", p.adjust(p, "holm"))
  emit(name, "ancova.pairs_low", estimate - qt(.975, full$df.residual) * se)
}

clustered <- function(name, people) {
  best <- best_fit(value ~ 0 + condition + (1 | cluster), people, 1)
  # A search cannot start at a variance of zero.
  fit <- lmerTest::lmer(value ~ 0 + condition + (1 | cluster), people, control = precise,
                        start = pmax(getME(best, "theta"), 0.01))
  k <- nlevels(people$condition)
  joint <- contestMD(fit, cbind(-1, diag(k - 1)))
  none <- as.numeric(logLik(lm(value ~ 0 + condition, people), REML = TRUE))
  spread <- as.data.frame(VarCorr(fit))
  emit(name, "clusters.log_likelihood", logLik(fit))
  emit(name, "clusters.sd", spread$sdcor)
  emit(name, "clusters.ratio", max(0, 2 * (as.numeric(logLik(fit)) - none)))
  emit(name, "clusters.test", c(joint$`F value`, joint$NumDF, joint$DenDF, joint$`Pr(>F)`))
  first <- contest1D(fit, c(1, -1, rep(0, k - 2)))
  emit(name, "clusters.pair", c(first$Estimate, first$`Std. Error`, first$df))
}

# Least squares with equal weights of participants, and the errors that the variances of the mixed model imply.
items <- function(name, data, statistic, formula, fixed) {
  fit <- best_fit(formula, data, 2)
  emit(name, paste0(statistic, ".log_likelihood"), logLik(fit))
  x <- model.matrix(fixed, data)
  k <- nlevels(data$condition)
  later <- seq_len(ncol(x)) > k
  x[, later] <- scale(x[, later], scale = FALSE)
  w <- 1 / ave(data$value, data$person, FUN = length)
  weights <- solve(t(x * w) %*% x, t(x * w))
  spread <- as.data.frame(VarCorr(fit))
  variance <- function(group) spread$vcov[spread$grp == group]
  same <- function(level) outer(as.character(level), as.character(level), "==") * 1
  v <- variance("person") * same(data$person) + variance("condition:item") * same(data$condition:factor(data$item)) +
    variance("Residual") * diag(nrow(data))
  emit(name, paste0(statistic, ".sd"), sqrt(c(variance("person"), variance("condition:item"), variance("Residual"))))
  emit(name, paste0(statistic, ".means"), weights %*% data$value)
  emit(name, paste0(statistic, ".se"), sqrt(diag(weights %*% v %*% t(weights))))
}

fisher <- function(name, table) {
  emit(name, "attrition.chi_squared", c(chisq.test(table, correct = FALSE)$statistic, min(chisq.test(table)$expected)))
  emit(name, "attrition.chi_squared_p", chisq.test(table, correct = FALSE)$p.value)
  emit(name, "attrition.exact_p", tryCatch(fisher.test(table, workspace = 2e8)$p.value, error = function(e) NA))
}

imbens_manski <- function(low, high, se_low, se_high) {
  width <- (high - low) / max(se_low, se_high)
  critical <- uniroot(function(c) pnorm(c + width) - pnorm(-c) - .95, c(0, 5), tol = 1e-12)$root
  c(low - critical * se_low, high + critical * se_high)
}

worst_case <- function(y1, n1, y0, n0, low, high) {
  bound <- function(fill1, fill0) {
    a <- c(y1, rep(fill1, n1 - length(y1)))
    b <- c(y0, rep(fill0, n0 - length(y0)))
    c(mean(a) - mean(b), sqrt(var(a) / n1 + var(b) / n0))
  }
  l <- bound(low, high)
  h <- bound(high, low)
  c(l[1], h[1], l[2], h[2], imbens_manski(l[1], h[1], l[2], h[2]))
}

# Lee (2009), equations 4 and 5 and proposition 3, for treatment 1 with fewer losses than control 0. The trimmed mean is an
# integral of the quantile function, so that an observation at the edge counts in part.
lee <- function(y1, n1, y0, n0) {
  q1 <- length(y1) / n1
  q0 <- length(y0) / n0
  if (q1 < q0) {
    turned <- lee(y0, n0, y1, n1)
    return(c(-turned[2], -turned[1], turned[4], turned[3], -turned[6], -turned[5]))
  }
  p <- (q1 - q0) / q1
  m <- length(y1)
  part <- function(sorted, from, to) { # integral over the quantile function between two probabilities
    edges <- pmin(pmax(seq(0, 1, length.out = m + 1), from), to)
    w <- diff(edges) / (to - from)
    mu <- sum(w * sorted)
    edge <- if (from > 0) sorted[min(which(w > 1e-12))] else sorted[max(which(w > 1e-12))]
    variance <- sum(w * (sorted - mu)^2) / (m * (1 - p))
    if (p > 0) {
      variance <- variance + (edge - mu)^2 * p / (m * (1 - p)) +
        (edge - mu)^2 * ((1 - q1) / (n1 * q1) + (1 - q0) / (n0 * q0))
    }
    c(mu - mean(y0), sqrt(variance + var(y0) / length(y0)))
  }
  low <- part(sort(y1), 0, 1 - p)
  high <- part(sort(y1), p, 1)
  c(low[1], high[1], low[2], high[2], imbens_manski(low[1], high[1], low[2], high[2]))
}

robust <- function(formula, data, name_of, n_coefficients) {
  fit <- lm(formula, data)
  x <- model.matrix(fit)
  bread <- solve(crossprod(x))
  scores <- rowsum(x * residuals(fit), as.character(data$person))
  g <- nrow(scores)
  n <- nrow(x)
  v <- bread %*% crossprod(scores) %*% bread * g / (g - 1) * (n - 1) / (n - n_coefficients)
  c(coef(fit)[name_of], sqrt(v[name_of, name_of]), 2 * pt(-abs(coef(fit)[name_of] / sqrt(v[name_of, name_of])), g - 1))
}

all <- read.csv(file("stdin"), stringsAsFactors = FALSE)
cat("design,statistic,values\n")
for (name in unique(all$design)) {
  data <- all[all$design == name, ]
  data$condition <- factor(data$condition, levels = unique(data$condition))
  data$person <- factor(data$person, levels = unique(data$person))
  people <- data[!duplicated(data$person), ]
  people$value <- as.numeric(tapply(data$value, data$person, mean))
  people$age[is.na(people$age)] <- mean(people$age, na.rm = TRUE)
  data$age <- people$age[match(data$person, people$person)]
  k <- nlevels(data$condition)
  ancova(name, people)
  clustered(name, people)
  items(name, data, "watched", value ~ 0 + condition + watched + heard + (1 | person) + (1 | condition:item),
        ~ 0 + condition + watched + heard)
  items(name, data, "strata", value ~ 0 + condition + age + group + (1 | person) + (1 | condition:item),
        ~ 0 + condition + age + group)
  stayed <- as.numeric(table(people$condition))
  assigned <- as.numeric(tapply(people$n_assigned, people$condition, `[`, 1))
  if (sum(assigned - stayed) > 0) fisher(name, rbind(assigned - stayed, stayed))
  by_condition <- split(people$value, people$condition)
  scale <- c(floor(min(people$value)), ceiling(max(people$value)))
  pairs <- combn(k, 2)
  for (i in seq_len(ncol(pairs))) {
    a <- pairs[1, i]
    b <- pairs[2, i]
    emit(name, paste0("worst_case.", a - 1, ".", b - 1),
         worst_case(by_condition[[a]], assigned[a], by_condition[[b]], assigned[b], scale[1], scale[2]))
    emit(name, paste0("lee.", a - 1, ".", b - 1),
         lee(by_condition[[a]], assigned[a], by_condition[[b]], assigned[b]))
  }
  emit(name, "levels.total", robust(value ~ watched, data, "watched", 2))
  emit(name, "levels.within_conditions", robust(value ~ watched + condition, data, "watched", k + 1))
  emit(name, "levels.within_participants", robust(value ~ watched + person, data, "watched", 2))
  means <- aggregate(cbind(value, watched) ~ condition, data, mean)
  emit(name, "levels.between", coef(lm(value ~ watched, means))[2])
  outcome <- lm(value ~ 0 + condition + popularity + diversity, people)
  slopes <- coef(outcome)[c("popularity", "diversity")]
  emit(name, "mediation.slopes", slopes)
  emit(name, "mediation.slopes_se", sqrt(diag(vcov(outcome)))[c("popularity", "diversity")])
  mediators <- vapply(c("popularity", "diversity"), function(m) tapply(people[[m]], people$condition, mean), numeric(k))
  emit(name, "mediation.indirect", (mediators[1, ] - mediators[2, ]) * slopes)
  emit(name, "mediation.direct", coef(outcome)[1] - coef(outcome)[2])
  # Percentile intervals of the first pair's indirect parts and direct part, by plain refits.
  set.seed(20111027)
  resampled <- replicate(200, {
    chosen <- unlist(lapply(split(seq_len(nrow(people)), people$condition), function(rows) {
      rows[sample.int(length(rows), replace = TRUE)]
    }))
    own <- people[chosen, ]
    b <- coef(lm(value ~ 0 + condition + popularity + diversity, own))
    m <- vapply(c("popularity", "diversity"), function(m) tapply(own[[m]], own$condition, mean), numeric(k))
    c((m[1, ] - m[2, ]) * b[c("popularity", "diversity")], b[1] - b[2])
  })
  emit(name, "mediation.intervals", apply(resampled, 1, quantile, c(.025, .975)))
  emit(name, "mediation.sd", apply(resampled, 1, sd))
}
