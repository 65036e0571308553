# Fits the random designs of construct_designs.py by lavaan:
#   python tests/data/statistics/construct_designs.py | Rscript --vanilla tests/data/statistics/lavaan_constructs.R > \
#     tests/data/statistics/lavaan_constructs.csv
# Standardised estimates and standard errors, fit indices, log-likelihoods; HTMT and AVE from lavaan's own matrices.

suppressPackageStartupMessages(library(lavaan))
options(warn = -1)

all <- read.csv(file("stdin"), stringsAsFactors = FALSE)
tight <- list(rel.tol = 1e-10, iter.max = 20000, eval.max = 40000)
cat("design,model,quantity,values\n")

emit <- function(design, model, quantity, values) {
  cat(sprintf("%s,%s,%s,%s\n", design, model, quantity, paste(sprintf("%.10g", as.numeric(values)), collapse = ";")))
}

indices <- function(fit, design, model) {
  end <- if (lavInspect(fit, "options")$estimator == "DWLS") ".scaled" else ""
  keys <- paste0(c("chisq", "df", "pvalue", "cfi", "tli", "rmsea", "rmsea.ci.lower", "rmsea.ci.upper"), end)
  emit(design, model, "fit", fitMeasures(fit)[c(keys, "srmr")])
  if (end == "") emit(design, model, "log_likelihood", fitMeasures(fit)["logl"])
}

measurement <- function(scales) {
  paste(sapply(names(scales), function(name) paste(name, "=~", paste(scales[[name]], collapse = "+"))), collapse = "\n")
}

ratio <- function(r, a, b) {
  within <- function(items) mean(r[items, items][lower.tri(diag(length(items)))])
  mean(r[a, b]) / sqrt(within(a) * within(b))
}

factor_model <- function(data, scales, design, ordinal) {
  items <- unlist(scales, use.names = FALSE)
  fit <- if (ordinal) cfa(measurement(scales), data, std.lv = TRUE, ordered = items, estimator = "WLSMV", control = tight)
         else cfa(measurement(scales), data, std.lv = TRUE, control = tight)
  solution <- standardizedSolution(fit)
  loadings <- solution[solution$op == "=~", ]
  emit(design, "factors", "loadings", loadings$est.std)
  emit(design, "factors", "loading_ses", loadings$se)
  emit(design, "factors", "ave", tapply(loadings$est.std^2, factor(loadings$lhs, unique(loadings$lhs)), mean))
  pairs <- solution[solution$op == "~~" & solution$lhs != solution$rhs, ]
  emit(design, "factors", "correlations", pairs$est.std)
  emit(design, "factors", "correlation_ses", pairs$se)
  r <- cov2cor(matrix(lavInspect(fit, "sampstat")$cov, length(items), dimnames = list(items, items)))
  emit(design, "factors", "htmt", mapply(function(a, b) ratio(r, scales[[a]], scales[[b]]), pairs$lhs, pairs$rhs))
  if (ordinal) emit(design, "factors", "polychorics", r[lower.tri(r)])
  indices(fit, design, "factors")
}

omega <- function(data, items, design, name) {
  k <- seq_along(items)
  model <- paste0("f =~ ", paste0("l", k, "*", items, collapse = "+"), "\n",
                  paste0(items, " ~~ t", k, "*", items, collapse = "\n"),
                  "\nomega := (", paste0("l", k, collapse = "+"), ")^2 / ((", paste0("l", k, collapse = "+"), ")^2 + ",
                  paste0("t", k, collapse = "+"), ")")
  estimates <- parameterEstimates(cfa(model, data, std.lv = TRUE, control = tight))
  emit(design, paste0("omega-", name), "omega", unlist(estimates[estimates$lhs == "omega", c("est", "se")]))
}

invariance <- function(data, scales, design) {
  constraints <- list(configural = "", metric = "loadings", scalar = c("loadings", "intercepts"))
  fits <- lapply(constraints, function(equal) {
    cfa(measurement(scales), data, group = "group", group.equal = equal, meanstructure = TRUE, control = tight)
  })
  for (level in names(fits)) indices(fits[[level]], design, level)
  tests <- lavTestLRT(fits$configural, fits$metric, fits$scalar)
  emit(design, "changes", "chi_square", tests[2:3, "Chisq diff"])
  emit(design, "changes", "p", tests[2:3, "Pr(>Chisq)"])
}

structural <- function(data, scales, design) {
  groups <- unique(data$group)[-1]
  for (group in groups) data[[group]] <- as.numeric(data$group == group)
  qualities <- names(scales)
  on_qualities <- sapply(qualities, function(q) paste(q, "~", paste0("a_", q, "_", groups, "*", groups, collapse = "+")))
  on_outcome <- paste("outcome ~", paste0("b_", qualities, "*", qualities, collapse = "+"), "+",
                      paste(groups, collapse = "+"))
  together <- if (length(qualities) > 1) combn(qualities, 2, paste, collapse = "~~") else ""
  defined <- sapply(qualities, function(q) paste0("i_", q, "_", groups, " := a_", q, "_", groups, "*b_", q))
  fit <- sem(paste(c(measurement(scales), on_qualities, on_outcome, together, defined), collapse = "\n"), data,
             control = tight)
  solution <- standardizedSolution(fit, type = "std.nox")
  part <- function(quantity, rows) {
    emit(design, "structural", quantity, rows$est.std)
    emit(design, "structural", paste0(quantity, "_ses"), rows$se)
  }
  paths <- solution[solution$op == "~", ]
  part("on_qualities", paths[paths$lhs %in% qualities, ])
  part("on_outcome", paths[paths$lhs == "outcome" & paths$rhs %in% qualities, ])
  part("direct", paths[paths$lhs == "outcome" & paths$rhs %in% groups, ])
  part("indirect", solution[solution$op == ":=", ])
  emit(design, "structural", "r_squared", lavInspect(fit, "rsquare")["outcome"])
  indices(fit, design, "structural")
}

for (name in unique(all$design)) {
  long <- all[all$design == name, ]
  items <- unique(long$item)
  data <- data.frame(matrix(long$value, ncol = length(items), byrow = TRUE, dimnames = list(NULL, items)))
  data$group <- long$group[match(unique(long$person), long$person)]
  own <- items[items != "outcome"]
  scales <- split(own, factor(sub("q.*", "", own), unique(sub("q.*", "", own))))
  switch(long$kind[1],
    continuous = {
      factor_model(data, scales, name, FALSE)
      for (scale in names(scales)) omega(data, scales[[scale]], name, scale)
    },
    ordinal = factor_model(data, scales, name, TRUE),
    invariance = invariance(data, scales, name),
    structural = structural(data, scales, name)
  )
}
