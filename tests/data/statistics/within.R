# Reference values for studies in which participants meet all conditions in turn, on those of within_designs.py:
#   python tests/data/statistics/within_designs.py | Rscript --vanilla tests/data/statistics/within.R > \
#     tests/data/statistics/within.csv
# Models by lme4 and lmerTest, means and pairs by emmeans, repeated measures by afex, ranks by friedman.test.

suppressPackageStartupMessages({ library(lme4); library(lmerTest); library(emmeans); library(afex) })
options(warn = -1)
emm_options(lmer.df = "satterthwaite")

precise <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5),
                       check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore", check.nobs.vs.rankZ = "ignore",
                       check.conv.grad = "ignore", check.conv.hess = "ignore", check.conv.singular = "ignore")

emit <- function(name, statistic, values) {
  cat(name, ",", statistic, ",", paste(sprintf("%.10g", as.numeric(values)), collapse = ";"), "\n", sep = "")
}

fitted_model <- function(formula, data) {
  ends <- lapply(c(0.1, 1, 3), function(start) lme4::lmer(formula, data, control = precise, start = start))
  best <- ends[[which.max(vapply(ends, function(fit) as.numeric(logLik(fit)), 0))]]
  # Parsed anew, because update and emmeans look the formula and the data up by name.
  assign("d", data, envir = globalenv())
  eval(bquote(lmerTest::lmer(.(formula), d, control = precise, start = .(max(getME(best, "theta"), 1e-3)))), globalenv())
}

# All levels of a sum-coded factor, by orthonormal contrasts, on whose directions the degrees of freedom depend. Not by
# contestMD: it does not tell eigen that the matrix is symmetric, and errs where contrasts have the same variance.
f_of <- function(fit, data, term) {
  q <- nlevels(data[[term]]) - 1
  orthonormal <- t(contr.helmert(q + 1)) / sqrt(colSums(contr.helmert(q + 1)^2))
  rows <- matrix(0, q, length(fixef(fit)), dimnames = list(NULL, names(fixef(fit))))
  rows[, paste0(term, seq_len(q))] <- orthonormal %*% contr.sum(q + 1)
  spectrum <- eigen(rows %*% as.matrix(vcov(fit)) %*% t(rows), symmetric = TRUE)
  rotated <- t(spectrum$vectors) %*% rows
  nu <- vapply(seq_len(q), function(i) contest1D(fit, rotated[i, ])$df, 0)
  f <- mean((rotated %*% fixef(fit))^2 / spectrum$values)
  expected <- sum(nu / (nu - 2))
  df <- if (diff(range(nu)) < 1e-6) mean(nu) else 2 * expected / (expected - q)
  c(f, q, df, pf(f, q, df, lower.tail = FALSE))
}

pairs_of <- function(name, statistic, fit) {
  means <- emmeans(fit, "condition")
  table <- summary(pairs(means, adjust = "tukey"), infer = TRUE)
  emit(name, paste0(statistic, ".difference"), table$estimate)
  emit(name, paste0(statistic, ".se"), table$SE)
  emit(name, paste0(statistic, ".df"), table$df)
  emit(name, paste0(statistic, ".p"), table$p.value)
  emit(name, paste0(statistic, ".low"), table$lower.CL)
  emit(name, paste0(statistic, ".high"), table$upper.CL)
}

all <- read.csv(file("stdin"), stringsAsFactors = FALSE)
cat("design,statistic,values\n")
for (name in unique(all$design)) {
  data <- all[all$design == name, ]
  data$condition <- factor(data$condition, levels = sort(unique(data$condition)))
  data$position <- factor(data$position)
  k <- nlevels(data$condition)
  contrasts(data$condition) <- contr.sum(k)
  contrasts(data$position) <- contr.sum(nlevels(data$position))
  fit <- fitted_model(value ~ condition + position + (1 | participant), data)
  emit(name, "log_likelihood", logLik(fit))
  emit(name, "sd", as.data.frame(VarCorr(fit))$sdcor)
  emit(name, "condition", f_of(fit, data, "condition"))
  emit(name, "position", f_of(fit, data, "position"))
  means <- summary(emmeans(fit, "condition"))
  emit(name, "means", means$emmean)
  emit(name, "means_se", means$SE)
  emit(name, "means_low", means$lower.CL)
  pairs_of(name, "pairs", fit)
  complete <- data[data$participant %in% names(which(table(data$participant) == k)), ]
  found <- summary(aov_ez("participant", "value", complete, within = "condition"))
  table <- found$univariate.tests
  emit(name, "anova", c(table["condition", "F value"], table["condition", "num Df"], table["condition", "den Df"],
                        table["condition", "Pr(>F)"]))
  if (k > 2) {
    corrected <- found$pval.adjustments["condition", c("GG eps", "Pr(>F[GG])")]
    if (!anyNA(corrected)) emit(name, "greenhouse_geisser", corrected) # car needs more participants than conditions
    later <- data[data$previous != "", ]
    later$position <- factor(later$position)
    later$previous <- factor(later$previous)
    contrasts(later$position) <- contr.sum(nlevels(later$position))
    contrasts(later$previous) <- contr.sum(nlevels(later$previous))
    fit <- fitted_model(value ~ condition + position + previous + (1 | participant), later)
    emit(name, "previous", f_of(fit, later, "previous"))
    pairs_of(name, "adjusted", fit)
  }
  wide <- with(complete, tapply(value, list(participant, condition), mean))
  ranks <- friedman.test(wide)
  emit(name, "friedman", c(ranks$statistic, ranks$p.value))
}
