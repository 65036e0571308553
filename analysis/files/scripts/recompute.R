# Recompute the report's numbers from the raw answers in this package, and compare them with the report.
#
# Run in the folder of the package, or name it:  Rscript scripts/recompute.R [FOLDER]
# Base R alone. Nothing here reads the platform that made the report; report/numbers.csv, with the report's own
# numbers, is read at the end and only to compare.

arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments)) arguments[1] else "."
alpha <- 0.05
tie.within <- 1e-9 # of the largest value: users with a smaller difference are tied
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
    if (length(values) > 1) {
      half <- qt(.975, length(values) - 1) * sd(values) / sqrt(length(values))
      keep(of, "described", name, "", ci_low = mean(values) - half, ci_high = mean(values) + half)
    }
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

# Hedges' g of every pair with the exact correction, and limits from the noncentral t distribution.
effect.sizes <- function(of, groups) {
  for (i in seq_len(length(groups) - 1)) for (j in seq_along(groups)[-seq_len(i)]) {
    x <- groups[[i]]
    y <- groups[[j]]
    df <- length(x) + length(y) - 2
    spread <- squares(x) + squares(y)
    if (df < 2 || spread < 1e-12) next
    correction <- exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2)
    root <- sqrt(length(x) * length(y) / (length(x) + length(y)))
    t <- (mean(x) - mean(y)) / sqrt(spread / df) * root
    reach <- 4 * sqrt(1 + t^2 / (2 * df))
    limit <- function(share) {
      excess <- function(shift) suppressWarnings(pt(t, df, shift)) - share
      correction / root * uniroot(excess, t + c(-reach, reach), tol = 1e-12)$root
    }
    keep(of, "hedges", names(groups)[i], names(groups)[j], g = correction * t / root, ci_low = limit(.975),
         ci_high = limit(.025))
  }
}

# Dunn's tests of every pair by mean ranks, with Holm's correction.
dunn <- function(of, groups) {
  if (length(groups) < 2) return(invisible())
  ranks <- rank(unlist(groups, use.names = FALSE))
  own <- split(ranks, factor(rep(names(groups), lengths(groups)), levels = names(groups)))
  n <- length(ranks)
  ties <- as.numeric(table(ranks))
  unit <- n * (n + 1) / 12 - sum(ties^3 - ties) / (12 * (n - 1))
  if (unit < 1e-12) return(invisible())
  pairs <- combn(length(groups), 2)
  difference <- apply(pairs, 2, function(pair) mean(own[[pair[1]]]) - mean(own[[pair[2]]]))
  error <- apply(pairs, 2, function(pair) sqrt(unit * sum(1 / lengths(own)[pair])))
  p <- p.adjust(2 * pnorm(-abs(difference) / error), method = "holm")
  for (place in seq_along(p)) {
    keep(of, "dunn", names(groups)[pairs[1, place]], names(groups)[pairs[2, place]], difference = difference[place],
         p = p[place])
  }
}

# r with its p and its 95% limits by Fisher's z; NULL where a side is constant.
pearson <- function(x, y, df) {
  if (df < 1 || min(squares(x), squares(y)) < 1e-12) return(NULL)
  r <- sum((x - mean(x)) * (y - mean(y))) / sqrt(squares(x) * squares(y))
  if (abs(r) > 1 - 1e-12) return(list(coefficient = r, p = 0))
  p <- 2 * pt(-abs(r) * sqrt(df / (1 - r^2)), df)
  if (df == 1) return(list(coefficient = r, p = p))
  half <- qnorm(.975) / sqrt(df - 1)
  list(coefficient = r, p = p, ci_low = tanh(atanh(r) - half), ci_high = tanh(atanh(r) + half))
}

# Pearson's r over all participants, within conditions and between their means; one family for Holm's correction.
correlations <- function(pairs) {
  parts <- list()
  for (pair in pairs) {
    both <- !is.na(pair$x) & !is.na(pair$y)
    x <- pair$x[both]
    y <- pair$y[both]
    condition <- factor(people[["condition"]][both])
    k <- nlevels(condition)
    found <- list(overall = pearson(x, y, length(x) - 2),
                  within = pearson(x - ave(x, condition), y - ave(y, condition), length(x) - k - 1),
                  between = pearson(as.numeric(tapply(x, condition, mean)), as.numeric(tapply(y, condition, mean)), k - 2))
    for (part in names(found)) {
      if (is.null(found[[part]])) next
      parts[[length(parts) + 1]] <- list(of = pair$a, test = paste0("correlation_", part), a = pair$b, b = "",
                                         found = found[[part]])
    }
  }
  corrected <- p.adjust(vapply(parts, function(part) part$found$p, 0), method = "holm")
  for (place in seq_along(parts)) {
    part <- parts[[place]]
    do.call(keep, c(part[c("of", "test", "a", "b")], part$found, p_holm = corrected[place]))
  }
}

# Cumulative logit model of ordered answers by maximum likelihood; pairs by Wald tests with Holm's correction.
ordinal <- function(of, groups) {
  value <- unlist(groups, use.names = FALSE)
  points <- sort(unique(value))
  if (length(groups) < 2 || length(points) < 2 || length(points) > 60) return(invisible())
  counts <- t(sapply(groups, function(values) table(factor(values, levels = points))))
  n.thresholds <- length(points) - 1
  deviance <- function(parameters) {
    thresholds <- cumsum(c(parameters[1], exp(parameters[-1][seq_len(n.thresholds - 1)])))
    shifts <- c(0, tail(parameters, length(groups) - 1))
    below <- plogis(outer(-shifts, thresholds, "+"))
    shares <- cbind(below, 1) - cbind(0, below)
    -sum(counts * log(pmax(shares, 1e-300)))
  }
  thresholds <- qlogis(cumsum(colSums(counts))[seq_len(n.thresholds)] / sum(counts))
  start <- c(thresholds[1], log(diff(thresholds)), rep(0, length(groups) - 1))
  fit <- optim(start, deviance, method = "BFGS", hessian = TRUE,
               control = list(reltol = 1e-14, maxit = 1000, ndeps = rep(1e-5, length(start))))
  shifts <- c(0, tail(fit$par, length(groups) - 1))
  covariance <- matrix(0, length(groups), length(groups))
  covariance[-1, -1] <- solve(fit$hessian)[-seq_len(n.thresholds), -seq_len(n.thresholds)]
  keep(of, "ordinal", "", "", log_likelihood = -fit$value)
  for (place in seq_along(groups)[-1]) {
    keep(of, "ordinal", names(groups)[place], "", estimate = shifts[place], se = sqrt(covariance[place, place]))
  }
  pairs <- combn(length(groups), 2)
  difference <- shifts[pairs[1, ]] - shifts[pairs[2, ]]
  error <- apply(pairs, 2, function(pair) sqrt(sum(covariance[pair, pair] * c(1, -1, -1, 1))))
  p <- p.adjust(2 * pnorm(-abs(difference) / error), method = "holm")
  for (place in seq_along(p)) {
    keep(of, "ordinal_pair", names(groups)[pairs[1, place]], names(groups)[pairs[2, place]],
         difference = difference[place], p = p[place])
  }
}

# The mixed model of ratings with random intercepts of participants and of items within conditions, by REML.
nested <- function(items) {
  y <- items[["item.rating"]]
  names.of <- intersect(conditions, items[["condition"]])
  x <- outer(items[["condition"]], names.of, "==") * 1
  person <- factor(items[["participant.id"]])
  item <- factor(paste(items[["condition"]], items[["item.id"]], sep = "\n"))
  z <- list(outer(person, levels(person), "==") * 1, outer(item, levels(item), "==") * 1)
  both <- do.call(cbind, z)
  sizes <- sapply(z, ncol)
  zz <- crossprod(both)
  zx <- crossprod(both, x)
  zy <- crossprod(both, y)
  df <- length(y) - length(names.of)
  pieces <- function(sds) {
    scale <- rep(abs(sds), sizes)
    factor <- chol(diag(length(scale)) + scale * t(scale * zz))
    on.x <- backsolve(factor, scale * zx, transpose = TRUE)
    on.y <- backsolve(factor, scale * zy, transpose = TRUE)
    information <- crossprod(x) - crossprod(on.x)
    score <- crossprod(x, y) - crossprod(on.x, on.y)
    residual <- sum(y^2) - sum(on.y^2) - sum(score * solve(information, score))
    list(determinants = 2 * sum(log(diag(factor))) + as.numeric(determinant(information)$modulus),
         variance = residual / df)
  }
  if (df < 1 || pieces(c(0, 0))$variance < 1e-9) return(invisible())
  deviance <- function(sds) {
    found <- pieces(sds)
    found$determinants + df * log(max(found$variance, 1e-12))
  }
  starts <- list(c(.5, .5), c(.05, .5), c(.5, .05), c(.02, .02))
  fits <- lapply(starts, function(start) optim(start, deviance, control = list(reltol = 1e-12, maxit = 400)))
  best <- fits[[which.min(sapply(fits, function(fit) fit$value))]]
  variance <- pieces(best$par)$variance
  own <- variance * best$par^2
  keep("accuracy", "nested", "", "", log_likelihood = -(best$value + df * (1 + log(2 * pi))) / 2,
       sd_persons = sqrt(own[1]), sd_items = sqrt(own[2]), sd_residual = sqrt(variance))
  weights <- x / as.numeric(table(person)[person])
  weights <- t(t(weights) / colSums(weights))
  spread <- variance * colSums(weights^2)
  for (part in 1:2) spread <- spread + own[part] * colSums(crossprod(z[[part]], weights)^2)
  for (place in seq_along(names.of)) {
    keep("accuracy", "nested", names.of[place], "", mean = sum(weights[, place] * y), se = sqrt(spread[place]))
  }
}

# The mixed model of conditions and positions with participants random, by REML, and Satterthwaite's degrees of freedom.
models <- list()
mixed <- function(of, rows) {
  names <- conditions[conditions %in% rows[["condition"]]]
  position <- sapply(sort(unique(rows[["position"]])), function(at) as.numeric(rows[["position"]] == at))
  last <- ncol(position)
  x <- cbind(sapply(names, function(name) as.numeric(rows[["condition"]] == name)),
             position[, -last, drop = FALSE] - position[, last])
  whole <- cbind(x, rows[[of]])
  person <- as.character(rows[["participant.id"]])
  products <- crossprod(whole)
  sums <- rowsum(whole, person)
  n.own <- as.numeric(table(person)[rownames(sums)])
  n <- nrow(whole)
  p <- ncol(x)
  pieces <- function(variances) { # the deviance, the estimates and their covariance
    weights <- variances[1] / (variances[2] + variances[1] * n.own)
    inner <- (products - crossprod(sums, sums * weights)) / variances[2]
    information <- inner[1:p, 1:p]
    beta <- solve(information, inner[1:p, p + 1])
    determinants <- sum(log1p(variances[1] * n.own / variances[2])) + n * log(variances[2]) +
      as.numeric(determinant(information)$modulus)
    list(deviance = determinants + inner[p + 1, p + 1] - sum(inner[1:p, p + 1] * beta), beta = beta,
         covariance = solve(information))
  }
  start <- log(rep(var(rows[[of]]) / 2, 2))
  control <- list(reltol = 1e-15, maxit = 5000)
  fit <- optim(start, function(logs) pieces(exp(logs))$deviance, control = control)
  fit <- optim(fit$par, function(logs) pieces(exp(logs))$deviance, control = control)
  variances <- exp(fit$par)
  free <- if (variances[1] > 1e-6 * variances[2]) 1:2 else 2
  if (length(free) == 1) variances[1] <- 0
  best <- pieces(variances)
  steps <- lapply(free, function(i) 1e-3 * variances[i] * (1:2 == i))
  hessian <- sapply(steps, function(a) sapply(steps, function(b) {
    moved <- function(s, t) s * t * pieces(variances + s * a + t * b)$deviance
    (moved(1, 1) + moved(1, -1) + moved(-1, 1) + moved(-1, -1)) / 4
  }))
  changes <- lapply(steps, function(step) {
    (pieces(variances + step)$covariance - pieces(variances - step)$covariance) / 2
  })
  spread <- function(weights, covariance) sum(weights * (covariance %*% weights))
  df.of <- function(weights) {
    change <- sapply(changes, function(each) spread(weights, each))
    spread(weights, best$covariance)^2 / sum(change * solve(hessian, change))
  }
  tested <- function(weights) {
    padded <- c(weights, rep(0, p - length(weights)))
    c(value = sum(padded * best$beta), se = sqrt(spread(padded, best$covariance)), df = df.of(padded))
  }
  models[[of]] <<- list(names = names, tested = tested)
  keep(of, "mixed", "", "", log_likelihood = -(best$deviance + (n - p) * log(2 * pi)) / 2,
       sd_participants = sqrt(variances[1]), sd_residual = sqrt(variances[2]))
  k <- length(names)
  for (i in seq_len(k)) {
    own <- tested(diag(k)[i, ])
    keep(of, "mixed", names[i], "", adjusted = own[["value"]], se = own[["se"]])
  }
  for (i in seq_len(k - 1)) for (j in (i + 1):k) {
    own <- tested(diag(k)[i, ] - diag(k)[j, ])
    half <- own[["se"]] / sqrt(2)
    critical <- critical.value(k, own[["df"]])
    keep(of, "mixed_pair", names[i], names[j], difference = own[["value"]], se = own[["se"]], df = own[["df"]],
         p = range.tail(abs(own[["value"]]) / half, k, own[["df"]]),
         ci_low = own[["value"]] - critical * half, ci_high = own[["value"]] + critical * half)
  }
  contrasts <- cbind(t(contr.helmert(k)) / sqrt(colSums(contr.helmert(k)^2)), matrix(0, k - 1, p - k))
  parts <- eigen(contrasts %*% best$covariance %*% t(contrasts), symmetric = TRUE)
  rotated <- t(parts$vectors) %*% contrasts
  q <- k - 1
  f <- mean((rotated %*% best$beta)^2 / parts$values)
  single <- apply(rotated, 1, df.of)
  expected <- sum(single / (single - 2))
  df <- if (min(single) > 2) 2 * expected / (expected - q) else 2
  keep(of, "mixed", "", "", f = f, df_between = q, df_within = df, p = pf(f, q, df, lower.tail = FALSE))
}

# Participants with a value of every condition: analysis of variance corrected by Greenhouse and Geisser, and tests by
# ranks of Friedman and of Nemenyi.
repeated <- function(of, rows) {
  at <- list(match(rows[["participant.id"]], unique(rows[["participant.id"]])), match(rows[["condition"]], conditions))
  table <- matrix(NA_real_, max(at[[1]]), length(conditions))
  table[do.call(cbind, at)] <- rows[[of]]
  table <- table[stats::complete.cases(table), , drop = FALSE]
  n <- nrow(table)
  k <- ncol(table)
  if (n < 2) return(invisible())
  effects <- colMeans(table) - mean(table)
  rest <- sweep(table - rowMeans(table), 2, effects)
  if (sum(rest^2) > 1e-12 * sum(table^2)) {
    f <- n * sum(effects^2) / sum(rest^2) * (n - 1)
    df <- c(k - 1, (k - 1) * (n - 1))
    epsilon <- sum(rest^2)^2 / ((k - 1) * sum(crossprod(rest)^2))
    keep(of = of, test = "repeated_measures", a = "", b = "", n = n, f = f, df = df[1], df_within = df[2],
         p = pf(f, df[1], df[2], lower.tail = FALSE), epsilon = epsilon,
         p_corrected = pf(f, epsilon * df[1], epsilon * df[2], lower.tail = FALSE),
         partial_eta_squared = n * sum(effects^2) / (n * sum(effects^2) + sum(rest^2)))
  }
  table <- round(table, 9)
  if (all(apply(table, 1, function(row) length(unique(row))) == 1)) return(invisible())
  test <- friedman.test(table)
  keep(of = of, test = "friedman", a = "", b = "", chi_squared = unname(test$statistic), df = k - 1, p = test$p.value)
  ranks <- rowMeans(apply(table, 1, rank))
  for (i in seq_len(k - 1)) for (j in (i + 1):k) {
    q <- abs(ranks[i] - ranks[j]) / sqrt(k * (k + 1) / (12 * n))
    keep(of = of, test = "nemenyi", a = conditions[i], b = conditions[j], difference = ranks[i] - ranks[j],
         p = range.tail(q, k, Inf))
  }
}

# The conditions whose means are compared: those of two participants, or in turn those of the mixed model.
compared <- function(of) {
  if (in.turn) return(models[[of]]$names)
  column <- people[[of]]
  Filter(function(name) sum(people[["condition"]] == name & !is.na(column)) > 1, conditions)
}

values.of <- function(of, names) {
  column <- people[[of]]
  sapply(names, function(name) column[people[["condition"]] == name & !is.na(column)], simplify = FALSE)
}

# A weighted sum of the conditions' means with its error and degrees of freedom: by Welch, or in turn by the mixed model;
# NULL without such means or without any variance. `weights` has the names of the conditions.
sum.of.means <- function(of, weights) {
  weights <- weights[weights != 0]
  if (!length(weights) || !all(names(weights) %in% compared(of))) return(NULL)
  if (in.turn) {
    padded <- weights[models[[of]]$names]
    return(as.list(models[[of]]$tested(ifelse(is.na(padded), 0, padded))))
  }
  groups <- values.of(of, names(weights))
  own <- weights^2 * sapply(groups, var) / lengths(groups)
  if (sum(own) < 1e-15) return(NULL)
  list(value = sum(weights * sapply(groups, mean)), se = sqrt(sum(own)),
       df = sum(own)^2 / sum(own^2 / (lengths(groups) - 1)))
}

t.of.sum <- function(of, test, name, found, sides = 2) {
  t <- found$value / found$se
  p <- if (sides == 1) pt(t, found$df, lower.tail = FALSE) else 2 * pt(-abs(t), found$df)
  keep(of = of, test = test, a = name, b = "", value = found$value, se = found$se, df = found$df, t = t, p = p)
}

# The mean of the answered members of a scale, reverse-scored, on the range of the score; NA where too few are answered.
score <- function(columns, members) {
  scored <- sapply(seq_len(nrow(members)), function(place) {
    member <- members[place, ]
    column <- as.numeric(columns[[member$column]])
    if (member$is_reversed == 1) member$low + member$high - column else column
  })
  scored <- matrix(scored, ncol = nrow(members))
  answered <- rowSums(!is.na(scored))
  means <- rowMeans(scored, na.rm = TRUE)
  means[answered == 0 | answered < members$least_answered[1] * nrow(members) - 1e-9] <- NA
  first <- members[1, ]
  if (first$low == first$score_low && first$high == first$score_high) return(means)
  first$score_low + (means - first$low) / (first$high - first$low) * (first$score_high - first$score_low)
}

# Mean difference between the better and the worse of the pairs that a metric separates.
advantage <- function(of, metric, better, worse) {
  is.known <- better %in% compared(of) & worse %in% compared(of)
  share <- function(name) (sum(better[is.known] == name) - sum(worse[is.known] == name)) / sum(is.known)
  found <- sum.of.means(of, if (any(is.known)) sapply(compared(of), share))
  if (!is.null(found)) t.of.sum(of, if (in.turn) "mixed_contrast" else "advantage", metric, found)
}

# The planned contrast of independent people: a t test with the variance pooled over all conditions, and Welch's.
contrast.test <- function(of, groups, weights, sides) {
  named <- names(weights)
  if (!all(named %in% names(groups))) return(invisible())
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

# A weighted sum of the conditions' means with its limits.
effect <- function(of, name, weights) {
  found <- sum.of.means(of, weights)
  if (is.null(found)) return(invisible())
  test <- if (in.turn) "mixed_contrast" else "effect"
  half <- qt(1 - alpha / 2, found$df) * found$se
  t.of.sum(of, test, name, found)
  keep(of = of, test = test, a = name, b = "", ci_low = found$value - half, ci_high = found$value + half)
}

# F, its degrees of freedom and p of contrasts that are all 0, by Johansen, from means with their squared errors and
# numbers of participants; NULL where too few have an error.
johansen <- function(weights, means, own, n) {
  parts <- svd(weights)
  weights <- t(parts$v[, parts$d > 1e-9, drop = FALSE])
  q <- nrow(weights)
  spread <- weights %*% (own * t(weights))
  if (q == 0 || min(eigen(spread)$values) <= 1e-9 * max(eigen(spread)$values)) return(NULL)
  values <- weights %*% means
  shares <- colSums(weights * solve(spread, weights)) * own
  a <- sum(shares^2 / (n - 1))
  f <- sum(values * solve(spread, values)) / (q + 2 * a - 6 * a / (q + 2))
  df <- q * (q + 2) / (3 * a)
  list(f = f, df = q, df_within = df, p = pf(f, q, df, lower.tail = FALSE))
}

# Whether the contrasts of a term are all 0; of a trend, whether the doses' means leave the straight line.
joint <- function(of, groups, term, weights) {
  weights <- weights[abs(rowSums(weights)) < 1e-9, , drop = FALSE] # without the marginal means
  if (startsWith(term, "trend over")) {
    doses <- unique(round(weights[1, ], 9))
    at <- match(round(weights[1, ], 9), doses)
    bends <- diag(length(doses)) - lm.fit(cbind(1, doses), diag(length(doses)))$fitted.values
    weights <- sweep(bends, 2, tabulate(at), "/")[, at, drop = FALSE]
  }
  tested <- johansen(weights, sapply(groups, mean), sapply(groups, var) / lengths(groups), lengths(groups))
  if (!is.null(tested)) do.call(keep, c(list(of = of, test = "joint", a = term, b = ""), tested))
}

# Shares of participants who picked something: all conditions by chi-squared or exactly, pairs with Newcombe's limits.
picking <- function(of, groups) {
  picked <- sapply(groups, function(values) sum(values > 0))
  n <- lengths(groups)
  if (length(n) < 2 || sum(picked) == 0 || sum(picked) == sum(n)) return(invisible())
  tested <- function(at) {
    table <- rbind(picked, n - picked)[, at]
    if (any(rowSums(table) == 0)) return(list(p.value = 1))
    test <- suppressWarnings(chisq.test(table, correct = FALSE))
    if (min(test$expected) < 5) test$p.value <- fisher.test(table, workspace = 2e7)$p.value
    test
  }
  whole <- tested(seq_along(n))
  keep(of, "shares", "", "", statistic = unname(whole$statistic), df = length(n) - 1, p = whole$p.value)
  pairs <- combn(length(n), 2)
  limits <- function(at) {
    suppressWarnings(prop.test(picked[at], n[at], conf.level = 1 - alpha / ncol(pairs), correct = FALSE)$conf.int)
  }
  share <- picked / n
  for (at in seq_len(ncol(pairs))) {
    i <- pairs[1, at]
    j <- pairs[2, at]
    difference <- share[[i]] - share[[j]]
    keep(of, "shares_pair", names(n)[i], names(n)[j], difference = difference,
         p = min(1, ncol(pairs) * tested(c(i, j))$p.value),
         ci_low = difference - sqrt((share[[i]] - limits(i)[1])^2 + (limits(j)[2] - share[[j]])^2),
         ci_high = difference + sqrt((limits(i)[2] - share[[i]])^2 + (share[[j]] - limits(j)[1])^2))
  }
}

# Mean shares of items: estimating equations with an exchangeable correlation of a participant's items, and the variance
# of Mancl and DeRouen; all conditions by Johansen, pairs by the studentized range. `sizes` are numbers of items.
mean.shares <- function(of, groups, sizes) {
  sizes <- sizes[lengths(groups) > 1]
  groups <- groups[lengths(groups) > 1]
  k <- length(groups)
  if (k < 2) return(invisible())
  fit <- function(correlation) Map(function(own, size) {
    weights <- size / (1 + (size - 1) * correlation)
    weights <- weights / sum(weights)
    mean <- sum(weights * own)
    c(mean, if (diff(range(own)) > 0) sum((weights * (own - mean) / (1 - weights))^2) else 0)
  }, groups, sizes)
  every <- unlist(sizes)
  n.pairs <- sum(every * (every - 1)) / 2
  correlation <- 0
  for (step in seq_len(if (n.pairs > k) 100 else 0)) {
    means <- sapply(fit(correlation), `[`, 1)
    squares <- sum(mapply(function(own, size, mean) sum(size * (own * (1 - mean)^2 + (1 - own) * mean^2)),
                          groups, sizes, means))
    sums <- sum(mapply(function(own, size, mean) sum((size * (own - mean))^2), groups, sizes, means))
    before <- correlation
    correlation <- (sums - squares) / 2 * (sum(every) - k) / squares / (n.pairs - k)
    if (abs(correlation - before) < 1e-12) break
  }
  if (1 + (max(every) - 1) * correlation <= 0) correlation <- 0
  fitted <- do.call(rbind, fit(correlation))
  squared <- fitted[, 2]
  n <- lengths(groups)
  tested <- johansen(diag(k) - 1 / k, fitted[, 1], squared, n)
  if (is.null(tested)) return(invisible())
  keep(of, "shares", "", "", statistic = tested$f, df = tested$df, df_within = tested$df_within, p = tested$p)
  for (i in seq_len(k - 1)) for (j in (i + 1):k) {
    both <- squared[[i]] + squared[[j]]
    if (both <= 1e-15) next
    df <- both^2 / (squared[[i]]^2 / (n[[i]] - 1) + squared[[j]]^2 / (n[[j]] - 1))
    difference <- fitted[i, 1] - fitted[j, 1]
    half <- sqrt(both / 2)
    keep(of, "shares_pair", names(groups)[i], names(groups)[j], difference = difference,
         p = range.tail(abs(difference) / half, k, df), ci_low = difference - critical.value(k, df) * half,
         ci_high = difference + critical.value(k, df) * half)
  }
}

# The planned contrast, if any, and every pair against the bound: p of equivalence by two one-sided t tests, and of a
# difference beyond the bound, two-sided; Holm's correction of pairs within each of these two families.
bounded <- function(of, bound, weights) {
  test <- if (in.turn) "mixed_equivalence" else "equivalence"
  against <- function(found) {
    list(p_equivalence = max(pt((found$value + bound) / found$se, found$df, lower.tail = FALSE),
                             pt((found$value - bound) / found$se, found$df)),
         p_minimum = min(1, 2 * pt((bound - abs(found$value)) / found$se, found$df)))
  }
  rows <- list()
  for (pair in if (length(compared(of)) > 1) combn(compared(of), 2, simplify = FALSE)) {
    found <- sum.of.means(of, setNames(c(1, -1), pair))
    if (is.null(found)) next
    half <- qt(1 - alpha, found$df) * found$se
    keep(of, test, pair[1], pair[2], ci_low = found$value - half, ci_high = found$value + half)
    rows[[length(rows) + 1]] <- c(list(a = pair[1], b = pair[2]), against(found))
  }
  same <- p.adjust(sapply(rows, function(row) row$p_equivalence), method = "holm")
  beyond <- p.adjust(sapply(rows, function(row) row$p_minimum), method = "holm")
  for (place in seq_along(rows)) {
    keep(of, test, rows[[place]]$a, rows[[place]]$b, p_equivalence = same[place], p_minimum = beyond[place])
  }
  found <- sum.of.means(of, weights)
  if (!is.null(found)) do.call(keep, c(list(of = of, test = test, a = "", b = ""), against(found)))
}

# Two-sided sign tests between every pair over users, with Holm's correction over all pairs.
sign.tests <- function(of, values) {
  rows <- list()
  for (i in seq_len(length(values) - 1)) for (j in seq_along(values)[-seq_len(i)]) {
    difference <- values[[i]] - values[[j]]
    difference <- difference[!is.na(difference)]
    tied <- tie.within * max(abs(c(values[[i]], values[[j]])), na.rm = TRUE)
    n.a <- sum(difference > tied)
    n.b <- sum(difference < -tied)
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

# Preferences between two lists, below 0 for the left one. Returns the values that metrics are compared with: shares of
# two conditions, or log-worths of more.
preferences <- function(of, judged) {
  left <- as.character(judged[["left"]])
  right <- as.character(judged[["right"]])
  sign <- sign(judged[["preference"]])
  names <- conditions[conditions %in% c(left, right)]
  for (i in seq_along(names)) for (j in seq_along(names)[-seq_len(i)]) {
    a <- names[i]
    b <- names[j]
    towards <- c(-sign[left == a & right == b], sign[left == b & right == a])
    n.a <- sum(towards > 0)
    n.b <- sum(towards < 0)
    if (n.a + n.b == 0) next
    exact <- binom.test(n.a, n.a + n.b)
    keep(of, "preference", a, b, n_a = n.a, n_b = n.b, n_ties = sum(towards == 0), share = n.a / (n.a + n.b),
         ci_low = exact$conf.int[1], ci_high = exact$conf.int[2])
    if (length(conditions) == 2) {
      keep(of, "sign", a, b, difference = (n.a - n.b) / length(towards), p = exact$p.value)
    }
  }
  if (length(conditions) == 2) {
    return(sapply(setNames(names, names), function(name) {
      mean(c((1 - sign[left == name]) / 2, (1 + sign[right == name]) / 2))
    }))
  }
  davidson(of, names, match(left, names), match(right, names), sign, judged[["participant"]])
}

# Davidson's model with an effect of the side, its variance clustered by participant.
davidson <- function(of, names, left, right, sign, people) {
  k <- length(names)
  effects <- rbind(diag(k - 1), rep(-1, k - 1))
  answers <- list(cbind(effects[left, , drop = FALSE], 0.5), cbind(effects[right, , drop = FALSE], -0.5))
  chosen <- cbind(sign < 0, sign > 0)
  if (any(sign == 0)) {
    tied <- cbind((effects[left, , drop = FALSE] + effects[right, , drop = FALSE]) / 2, 0, 1)
    answers <- c(lapply(answers, cbind, 0), list(tied))
    chosen <- cbind(chosen, sign == 0)
  }
  beta <- rep(0, ncol(answers[[1]]))
  for (step in 1:100) {
    chances <- exp(sapply(answers, function(of.answer) of.answer %*% beta))
    chances <- chances / rowSums(chances)
    scores <- Reduce(`+`, lapply(seq_along(answers), function(i) (chosen[, i] - chances[, i]) * answers[[i]]))
    average <- Reduce(`+`, lapply(seq_along(answers), function(i) chances[, i] * answers[[i]]))
    information <- Reduce(`+`, lapply(seq_along(answers), function(i) {
      centred <- answers[[i]] - average
      crossprod(centred, chances[, i] * centred)
    }))
    change <- solve(information, colSums(scores))
    beta <- beta + change / max(1, max(abs(change)))
    if (max(abs(change)) < 1e-12) break
  }
  if (max(abs(beta)) > 12) return(numeric(0))
  sums <- rowsum(scores, people)
  df <- nrow(sums) - 1
  covariance <- solve(information) %*% crossprod(sums) %*% solve(information) * nrow(sums) / df
  own <- covariance[seq_len(k - 1), seq_len(k - 1), drop = FALSE]
  free <- beta[seq_len(k - 1)]
  worths <- setNames(as.vector(effects %*% free), names)
  for (name in names) keep(of, "davidson", name, "", worth = worths[[name]])
  for (i in seq_len(k - 1)) for (j in (i + 1):k) {
    contrast <- effects[i, ] - effects[j, ]
    error <- sqrt(sum(contrast * (own %*% contrast)) / 2)
    difference <- worths[[i]] - worths[[j]]
    half <- critical.value(k, df) * error
    keep(of, "davidson_pair", names[i], names[j], difference = difference, p = range.tail(abs(difference) / error, k, df),
         ci_low = difference - half, ci_high = difference + half)
  }
  f <- sum(free * solve(own, free)) * (df - k + 2) / (df * (k - 1))
  keep(of, "davidson", "", "", f = f, df = k - 1, df_within = df - k + 2, p = pf(f, k - 1, df - k + 2, lower.tail = FALSE))
  se <- sqrt(covariance[k, k])
  half <- qt(.975, df) * se
  keep(of, "davidson_side", "", "", value = beta[k], se = se, df = df, p = 2 * pt(-abs(beta[k]) / se, df),
       ci_low = beta[k] - half, ci_high = beta[k] + half)
  worths
}

# Kendall's tau-b, and its p from all orders of the algorithms.
tau.b <- function(of, metric, x, y) {
  names.of.both <- intersect(names(x), names(y))
  k <- length(names.of.both)
  if (k < 2) return(NA)
  x <- round(x[names.of.both], 10)
  y <- round(y[names.of.both], 10)
  signs.x <- sign(outer(x, x, "-"))
  signs.y <- sign(outer(y, y, "-"))
  untied <- sqrt(sum(signs.x^2) * sum(signs.y^2))
  if (untied == 0) return(NA)
  observed <- sum(signs.x * signs.y)
  p <- NA
  if (k <= 8) {
    sums <- apply(orders.of(k), 1, function(order) sum(signs.x * signs.y[order, order]))
    p <- mean(abs(sums) >= abs(observed))
  }
  keep(of, "tau_b", metric, "", coefficient = observed / untied, p = p)
  p
}

# The mean of each recommender over those of its conditions that are named.
by.recommender <- function(values, of) {
  own <- factor(recommenders[of], levels = unique(recommenders[of]))
  means <- tapply(values[of], own, mean)
  setNames(as.numeric(means), names(means))
}

# The difference of each re-ranked condition from the one with the same model, in standard deviations within both.
doses <- function(metric, groups) {
  for (place in seq_along(designed[["re_ranks"]])) {
    name <- conditions[place]
    base <- as.character(designed[["re_ranks"]][place])
    if (!is.na(base) && all(c(name, base) %in% names(groups))) {
      both <- groups[c(name, base)]
      squares <- sum(sapply(both, function(values) sum((values - mean(values))^2)))
      sd <- sqrt(squares / max(1, sum(lengths(both)) - 2))
      difference <- mean(both[[1]]) - mean(both[[2]])
      keep(metric, "dose", name, base, difference_sd = if (sd > 0) difference / sd else 0)
    }
  }
}

# Metrics of the lists shown by condition, and with every measure within and between conditions; one family.
list.metrics <- function(lists) {
  family <- data.frame()
  condition <- people[["condition"]]
  for (metric in names(lists)[-(1:2)]) {
    column <- as.numeric(lists[[metric]])
    groups <- lapply(conditions, function(name) column[condition == name & !is.na(column)])
    names(groups) <- conditions
    groups <- groups[lengths(groups) > 0]
    describe(metric, groups)
    doses(metric, groups)
    means <- sapply(groups, mean)
    for (variable in variables) {
      both <- !is.na(column) & !is.na(people[[variable]])
      x <- column[both]
      y <- people[[variable]][both]
      of <- factor(condition[both])
      within <- if (any(both)) pearson(x - ave(x, of), y - ave(y, of), length(x) - nlevels(of) - 1)
      if (!is.null(within)) {
        do.call(keep, c(list(of = variable, test = "correlation_within", a = metric, b = ""), within))
        family <- rbind(family, data.frame(of = variable, test = "correlation_within", a = metric, p = within$p))
      }
      if (length(intersect(names(means), names(perceived[[variable]]))) > 2) {
        p <- tau.b(variable, metric, means, perceived[[variable]])
        if (!is.na(p)) family <- rbind(family, data.frame(of = variable, test = "tau_b", a = metric, p = p))
      }
    }
  }
  corrected <- p.adjust(family[["p"]], method = "holm")
  for (place in seq_len(nrow(family))) {
    keep(as.character(family$of[place]), as.character(family$test[place]), as.character(family$a[place]), "",
         p_holm = corrected[place])
  }
}

designed <- read("data/conditions.csv")
conditions <- as.character(designed[["label"]])
# Where conditions share a recommender, rank correlations are over recommenders, whose conditions weigh the same.
shared <- designed[["recommender"]]
recommenders <- if (is.null(shared)) conditions else as.character(shared)
names(recommenders) <- conditions
analysed <- read("data/analysed.csv")
ids <- as.character(analysed[["participant.id"]])
in.turn <- "position" %in% names(analysed) # each participant met all conditions: a row for each occasion
if (in.turn) ids <- paste(ids, analysed[["position"]], sep = "/") # as if each occasion were a participant
keyed <- function(table) {
  own <- as.character(table[["participant.id"]])
  if (in.turn) paste(own, table[["list.occasion"]], sep = "/") else own
}

# The measures of each analysed participant, from the answers about the list and about each item.
judged <- read("data/items.csv")
judged[["participant.id"]] <- keyed(judged)
judged <- judged[judged[["participant.id"]] %in% ids, ]
judged[["condition"]] <- as.character(analysed[["condition"]])[match(judged[["participant.id"]], ids)]
answers <- read(if (in.turn) "data/occasions.csv" else "data/participants.csv")
answers <- answers[match(ids, keyed(answers)), ]
per.person <- function(values) as.numeric(tapply(values, judged[["participant.id"]], mean, na.rm = TRUE)[ids])
asked <- function(measure) measure %in% names(analysed)
people <- data.frame(condition = as.character(analysed[["condition"]]), stringsAsFactors = FALSE, check.names = FALSE)
if (asked("accuracy")) people[["accuracy"]] <- per.person(judged[["item.rating"]])
if (asked("fon")) people[["fon"]] <- per.person(judged[["item.watched"]] == 0)
if (asked("son")) people[["son"]] <- per.person(judged[["item.watched"]] == 0 & judged[["item.heard"]] %in% 0)
if (asked("satisfaction")) people[["satisfaction"]] <- as.numeric(answers[["overall.satisfaction"]])
if (file.exists(file.path(folder, "data/scales.csv"))) {
  members <- read("data/scales.csv")
  for (scale in unique(members[["scale"]])) {
    own <- members[members[["scale"]] == scale, ]
    people[[scale]] <- if (own$about[1] == "items") per.person(score(judged, own)) else score(answers, own)
  }
}

plan <- read("data/plan.csv")
variables <- plan[["variable"]][plan[["role"]] == "tested"]
in.steps <- plan[["variable"]][plan[["role"]] == "ordinal"]
n.shown <- as.numeric(table(judged[["participant.id"]])[ids])
perceived <- list()
for (variable in variables) {
  if (is.null(people[[variable]])) { # what was picked, opened or played
    rank <- answers[[paste0(variable, "_rank")]]
    people[[variable]] <- if (is.null(rank)) answers[[variable]] / n.shown else as.numeric(!is.na(rank))
    people[[variable]][is.na(answers[[variable]])] <- NA
  }
  column <- people[[variable]]
  # Who has no score of a scale has an empty cell.
  rows <- lapply(conditions, function(name) which(people[["condition"]] == name & !is.na(column)))
  names(rows) <- conditions
  rows <- rows[lengths(rows) > 0]
  groups <- lapply(rows, function(own) column[own])
  roles <- plan[["role"]][plan[["variable"]] == variable]
  if ("picks" %in% roles) picking(variable, groups)
  if ("counts" %in% roles) mean.shares(variable, groups, lapply(rows, function(own) n.shown[own]))
  describe(variable, groups)
  of.two <- groups[lengths(groups) > 1]
  perceived[[variable]] <- sapply(groups, mean)
  if (in.turn) {
    rows <- cbind(people, analysed[c("participant.id", "position")])[!is.na(column), ]
    if (length(unique(rows[[variable]])) > 1) {
      mixed(variable, rows)
      repeated(variable, rows)
      own <- models[[variable]]
      perceived[[variable]] <- sapply(own$names, function(name) own$tested(as.numeric(own$names == name))[["value"]])
    }
    next
  }
  variance.tests(variable, of.two)
  if (length(of.two) > 1) effect.sizes(variable, of.two)
  if (length(groups)) rank.test(variable, groups)
  dunn(variable, groups)
  if (variable %in% in.steps) ordinal(variable, groups)
}

if (file.exists(file.path(folder, "data/preferences.csv"))) {
  rows <- read("data/preferences.csv")
  for (variable in unique(rows[["variable"]])) {
    perceived[[variable]] <- preferences(variable, rows[rows[["variable"]] == variable, ])
  }
}

pairs <- list()
for (i in seq_len(max(0, length(variables) - 1))) for (j in seq_along(variables)[-seq_len(i)]) {
  pairs[[length(pairs) + 1]] <- list(a = variables[i], b = variables[j], x = people[[variables[i]]],
                                     y = people[[variables[j]]])
}
if (all(c("fon", "son") %in% variables)) {
  share <- ifelse(people[["fon"]] > 0, people[["son"]] / people[["fon"]], NA)
  pairs[[length(pairs) + 1]] <- list(a = "fon", b = "unheard_of_unwatched", x = people[["fon"]], y = share)
}
if (!in.turn) correlations(pairs)
if (asked("accuracy") && !in.turn) nested(judged)
if (file.exists(file.path(folder, "data/lists.csv"))) {
  lists <- read("data/lists.csv")
  # Rows of occasions are in the order of those analysed.
  list.metrics(if (in.turn) lists else lists[match(ids, as.character(lists[["participant.id"]])), ])
}

if (file.exists(file.path(folder, "data/separated.csv"))) {
  separated <- read("data/separated.csv")
  for (own in split(separated, list(separated[["variable"]], separated[["metric"]]), drop = TRUE)) {
    advantage(as.character(own[["variable"]][1]), as.character(own[["metric"]][1]), as.character(own[["better"]]),
              as.character(own[["worse"]]))
  }
}

weights <- numeric(0)
if (file.exists(file.path(folder, "data/contrast.csv"))) {
  planned <- read("data/contrast.csv")
  variable <- as.character(planned[["variable"]][1])
  sides <- planned[["sides"]][1]
  size <- ave(seq_len(nrow(planned)), planned[["set"]], FUN = length)
  weights <- setNames(ifelse(planned[["set"]] == "higher", 1, -1) / size, as.character(planned[["condition"]]))
  of.plan <- sum.of.means(variable, weights)
  if (in.turn && !is.null(of.plan)) t.of.sum(variable, "mixed_contrast", "planned", of.plan, sides)
  if (!in.turn) contrast.test(variable, values.of(variable, compared(variable)), weights, sides)
}

if (file.exists(file.path(folder, "data/effects.csv"))) {
  rows <- read("data/effects.csv")
  for (own in split(rows, list(rows[["variable"]], rows[["effect"]]), drop = TRUE)) {
    effect(as.character(own[["variable"]][1]), as.character(own[["effect"]][1]),
           setNames(own[["weight"]], as.character(own[["condition"]])))
  }
  rows <- rows[rows[["effect"]] != "planned", ]
  rows[["term"]] <- sub(": .*", "", rows[["effect"]])
  for (own in split(rows, list(rows[["variable"]], rows[["term"]]), drop = TRUE)) {
    matrix.of <- tapply(own[["weight"]], list(as.character(own[["effect"]]), as.character(own[["condition"]])), sum)
    matrix.of[is.na(matrix.of)] <- 0
    variable <- as.character(own[["variable"]][1])
    joint(variable, values.of(variable, colnames(matrix.of)), own[["term"]][1], matrix.of)
  }
}

if (file.exists(file.path(folder, "data/equivalence.csv"))) {
  against <- read("data/equivalence.csv")
  bounded(as.character(against[["variable"]][1]), as.numeric(as.character(against[["bound"]][1])), weights)
}

users <- read("data/run-users.csv")
tested <- sub("^cases[.]", "", grep("^cases[.]", names(users), value = TRUE))
objective <- list()
for (profile.length in sort(unique(users[["profile_length"]]))) {
  own <- users[users[["profile_length"]] == profile.length, ]
  for (kind in tested) {
    key <- if (profile.length > 0) paste0(kind, "@profile", profile.length) else kind
    cases <- own[[paste0("cases.", kind)]]
    values <- lapply(conditions, function(name) as.numeric(own[[paste0(kind, ".", name)]]))
    names(values) <- conditions
    objective[[key]] <- numeric(0)
    if (sum(cases) > 0) {
      measured <- conditions[sapply(values, function(column) any(!is.na(column)))]
      objective[[key]] <- sapply(values[measured], function(column) sum(column * cases, na.rm = TRUE) / sum(cases))
      for (name in measured) {
        given <- list(of = key, test = "value", a = name, b = "")
        given[[kind]] <- objective[[key]][[name]]
        do.call(keep, given)
      }
      if (length(measured) > 1) sign.tests(key, values[measured])
    }
  }
}

for (variable in names(perceived)) for (key in names(objective)) {
  if (length(perceived[[variable]]) && length(objective[[key]])) {
    sign <- if (sub("@.*", "", key) %in% c("fallout", "rmse", "mae")) -1 else 1
    both <- intersect(names(perceived[[variable]]), names(objective[[key]]))
    if (length(both)) {
      tau.b(variable, key, by.recommender(perceived[[variable]], both), by.recommender(sign * objective[[key]], both))
    }
  }
}
if (file.exists(file.path(folder, "data/run-metrics.csv"))) {
  metrics <- read("data/run-metrics.csv")
  for (place in seq_len(nrow(metrics))) for (variable in names(perceived)) {
    values <- sapply(conditions, function(name) metrics[["sign"]][[place]] * metrics[[paste0("value.", name)]][[place]])
    names(values) <- conditions
    # A metric that lacks a value of a condition is not compared.
    if (length(perceived[[variable]]) && all(is.finite(values[names(perceived[[variable]])]))) {
      judged.in <- names(perceived[[variable]])
      tau.b(variable, as.character(metrics[["metric"]][[place]]), by.recommender(perceived[[variable]], judged.in),
            by.recommender(values, judged.in))
    }
  }
}

reported <- read("report/numbers.csv")
for (head in c("of", "test", "a", "b", "statistic")) reported[[head]][is.na(reported[[head]])] <- ""
# Bounds and coverage of lists are of the run's cases, which are no part of the package.
reported <- reported[!reported$test %in% c("bounds", "coverage"), ]
cat("of", "test", "a", "b", "statistic", "recomputed", "report", "agrees\n", sep = "\t")
differing <- 0
largest <- 0
for (place in seq_len(nrow(reported))) {
  row <- reported[place, ]
  key <- paste(row$of, row$test, row$a, row$b, row$statistic, sep = "\t")
  own <- get0(key, envir = found, inherits = FALSE)
  # Fits by iteration agree within .001; with few degrees of freedom R's ptukey carries five digits.
  is.fitted <- row$test %in% c("ordinal", "ordinal_pair", "nested", "mixed", "mixed_pair", "mixed_contrast",
                               "mixed_equivalence")
  tolerance <- if (is.fitted) 1e-3 * max(1, abs(row$value)) else 1e-5 * abs(row$value) + 1e-7
  agrees <- !is.null(own) && abs(own - row$value) <= tolerance
  if (agrees) largest <- max(largest, abs(own - row$value)) else differing <- differing + 1
  cat(key, if (is.null(own)) "none" else format(own, digits = 10), format(row$value, digits = 10),
      if (agrees) "yes\n" else "no\n", sep = "\t")
}
cat(sprintf("# %d of %d numbers agree; largest difference %.2g\n", nrow(reported) - differing, nrow(reported), largest))
quit(status = if (differing > 0) 1 else 0)
