# Reference values for judgements of two conditions side by side, on those of judgement_designs.py:
#   python tests/data/statistics/judgement_designs.py | Rscript --vanilla tests/data/statistics/judgements.R > \
#     tests/data/statistics/judgements.csv
# Davidson's model as a Poisson regression of what was chosen, with a constant for each pair and side, by glm; the
# variance by sandwich, clustered by participant.

suppressPackageStartupMessages(library(sandwich))

emit <- function(name, statistic, values) {
  cat(name, ",", statistic, ",", paste(sprintf("%.10g", as.numeric(values)), collapse = ";"), "\n", sep = "")
}

all <- read.csv(file("stdin"), stringsAsFactors = FALSE)
cat("design,statistic,values\n")
for (name in unique(all$design)) {
  data <- all[all$design == name, ]
  levels <- sort(unique(c(data$left, data$right)))
  k <- length(levels)
  coded <- contr.sum(k)
  left <- coded[match(data$left, levels), , drop = FALSE]
  right <- coded[match(data$right, levels), , drop = FALSE]
  rows <- function(worths, side, tie, chosen) {
    cbind(data.frame(participant = data$participant, pair = paste(data$left, data$right), chosen = as.numeric(chosen)),
          setNames(data.frame(worths), paste0("w", seq_len(k - 1))), side = side, tie = tie)
  }
  has_ties <- any(data$preferred == "")
  long <- rbind(rows(left, 0.5, 0, data$preferred == data$left), rows(right, -0.5, 0, data$preferred == data$right),
                if (has_ties) rows((left + right) / 2, 0, 1, data$preferred == ""))
  terms <- c(paste0("w", seq_len(k - 1)), "side", if (has_ties) "tie")
  fit <- glm(reformulate(c("0", "pair", terms), "chosen"), poisson, long, control = glm.control(1e-14, 100))
  clustered <- vcovCL(fit, cluster = long$participant, type = "HC0", cadjust = TRUE)[terms, terms]
  beta <- coef(fit)[terms]
  own <- seq_len(k - 1)
  df <- length(unique(data$participant)) - 1
  emit(name, "worths", coded %*% beta[own])
  emit(name, "side", c(beta["side"], sqrt(clustered["side", "side"]), df,
                       2 * pt(-abs(beta["side"] / sqrt(clustered["side", "side"])), df)))
  if (has_ties) emit(name, "tie", beta["tie"])
  pairs <- combn(k, 2)
  contrasts <- coded[pairs[1, ], , drop = FALSE] - coded[pairs[2, ], , drop = FALSE]
  difference <- contrasts %*% beta[own]
  se <- sqrt(diag(contrasts %*% clustered[own, own] %*% t(contrasts)))
  emit(name, "difference", difference)
  emit(name, "se", se)
  emit(name, "p", ptukey(abs(difference / se) * sqrt(2), k, df, lower.tail = FALSE))
  squared <- beta[own] %*% solve(clustered[own, own], beta[own])
  f <- squared * (df - k + 2) / (df * (k - 1))
  emit(name, "test", c(f, k - 1, df - k + 2, pf(f, k - 1, df - k + 2, lower.tail = FALSE)))
  first <- data[data$left %in% levels[1:2] & data$right %in% levels[1:2], ]
  n <- c(sum(first$preferred == levels[1]), sum(first$preferred == levels[2]), sum(first$preferred == ""))
  sign <- binom.test(n[1], n[1] + n[2])
  emit(name, "sign", c(n, sign$p.value, sign$estimate, sign$conf.int))
}
