# Fits the random designs of mixed_designs.py by lme4, with items crossed with conditions and nested in them:
#   python tests/data/statistics/mixed_designs.py | Rscript --vanilla tests/data/statistics/lme4_mixed.R > \
#     tests/data/statistics/lme4_mixed.csv
# Every model is fitted from nine starts, since lme4 may stop short too; the best fit is printed, and by how much the
# default call falls short of it. Contrasts are of each later condition with the first one; degrees of freedom by lmerTest.

suppressPackageStartupMessages({ library(lme4); library(lmerTest) })
options(warn = -1)

ignore <- list(check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore", check.nobs.vs.rankZ = "ignore",
               check.conv.grad = "ignore", check.conv.hess = "ignore", check.conv.singular = "ignore")
default <- do.call(lmerControl, ignore)
precise <- do.call(lmerControl, c(list(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5)), ignore))
models <- list(nested = value ~ 0 + condition + (1 | person) + (1 | condition:item),
               crossed = value ~ 0 + condition + (1 | person) + (1 | item))

printed <- function(values) paste(sprintf("%.10g", as.numeric(values)), collapse = ";")

best_fit <- function(formula, data) {
  starts <- expand.grid(a = c(0.05, 0.6, 3), b = c(0.05, 0.6, 3))
  ends <- lapply(seq_len(nrow(starts)), function(i) {
    lme4::lmer(formula, data, control = precise, start = as.numeric(starts[i, ]))
  })
  best <- ends[[which.max(vapply(ends, function(fit) as.numeric(logLik(fit)), 0))]]
  lmerTest::lmer(formula, data, control = precise, start = getME(best, "theta"))
}

# Observed means over participants, with the variance that the fitted variances of a nested model imply, and
# Satterthwaite's degrees of freedom of contrasts with the first condition.
observed <- function(fit, data) {
  data$weight <- 1 / ave(data$value, data$person, FUN = length)
  data$weight <- data$weight / ave(data$weight, data$condition, FUN = sum)
  squared <- function(levels) {
    parts <- split(data.frame(w = data$weight, level = levels), data$condition)
    vapply(parts, function(part) sum(tapply(part$w, factor(part$level), sum)^2), 0)
  }
  sums <- cbind("person.(Intercept)" = squared(data$person), "condition:item.(Intercept)" = squared(data$item),
                residual = squared(seq_len(nrow(data))))
  theta <- getME(fit, "theta")
  sums <- sums[, c(names(theta), "residual")]
  variances <- sigma(fit)^2 * c(theta^2, 1)
  df <- vapply(seq_len(nrow(sums))[-1], function(i) {
    pair <- sums[1, ] + sums[i, ]
    variance <- sum(pair * variances)
    gradient <- c(2 * theta * sigma(fit)^2 * pair[names(theta)], 2 * variance / sigma(fit))
    2 * variance^2 / as.numeric(gradient %*% fit@vcov_varpar %*% gradient)
  }, 0)
  means <- vapply(split(data, data$condition), function(part) sum(part$weight * part$value), 0)
  list(means = means, ses = sqrt(as.numeric(sums %*% variances)), df = df)
}

all <- read.csv(file("stdin"), stringsAsFactors = FALSE)
cat("design,model,log_likelihood,shortfall,sd_person,sd_item,sd_residual,means,ses,contrast_ses,contrast_df,f,f_df,",
    "observed_means,observed_ses,observed_df\n", sep = "")
for (name in unique(all$design)) {
  data <- all[all$design == name, ]
  data$condition <- factor(data$condition, levels = unique(data$condition))
  for (model in names(models)) {
    fit <- best_fit(models[[model]], data)
    shortfall <- as.numeric(logLik(fit)) - as.numeric(logLik(lme4::lmer(models[[model]], data, control = default)))
    spread <- as.data.frame(VarCorr(fit))
    sd_of <- function(group) spread$sdcor[spread$grp == group]
    k <- length(fixef(fit))
    contrasts <- cbind(-1, diag(k - 1))
    covariance <- as.matrix(vcov(fit))
    tests <- lapply(seq_len(k - 1), function(i) contest1D(fit, contrasts[i, ]))
    joint <- contestMD(fit, contrasts)
    seen <- if (model == "nested") observed(fit, data)
    cat(name, model, printed(logLik(fit)), printed(shortfall), printed(sd_of("person")),
        printed(sd_of(if (model == "nested") "condition:item" else "item")), printed(sd_of("Residual")),
        printed(fixef(fit)), printed(sqrt(diag(covariance))),
        printed(sqrt(diag(contrasts %*% covariance %*% t(contrasts)))),
        printed(vapply(tests, function(test) test$df, 0)), printed(joint$`F value`), printed(joint$DenDF),
        printed(seen$means), printed(seen$ses), printed(seen$df), sep = ",")
    cat("\n")
  }
}
