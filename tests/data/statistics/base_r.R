# Computes the reference values of this folder that base R can compute, and prints one per line: file, case, field, value.
# Rscript --vanilla base_r.R FOLDER

read_json <- function(path) {
  text <- paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  tokens <- regmatches(text, gregexpr('"(\\\\.|[^"\\\\])*"|[][{}:,]|[^][{}:,"[:space:]]+', text))[[1]]
  as_r <- c("{" = "list(", "[" = "list(", "}" = ")", "]" = ")", ":" = "=", null = "NA", true = "TRUE", false = "FALSE")
  known <- tokens %in% names(as_r)
  tokens[known] <- as_r[tokens[known]]
  tokens <- gsub("\\\\/", "/", tokens)
  eval(parse(text = paste(tokens, collapse = " "), encoding = "UTF-8"))
}

numbers <- function(values) as.numeric(unlist(values))

# Values and their groups, in the order of the file.
grouped <- function(groups) {
  list(y = numbers(groups), g = factor(rep(names(groups), lengths(groups)), levels = names(groups)))
}

procedures <- list(
  anova = function(data, input) {
    table <- anova(aov(data$y ~ data$g))
    c(df_between = table$Df[1], df_within = table$Df[2], ss_between = table$`Sum Sq`[1], ss_within = table$`Sum Sq`[2],
      F = table$`F value`[1], p = table$`Pr(>F)`[1])
  },
  welch = function(data, input) {
    test <- oneway.test(data$y ~ data$g, var.equal = FALSE)
    c(F = unname(test$statistic), df_num = unname(test$parameter[1]), df_den = unname(test$parameter[2]), p = test$p.value)
  },
  kruskal = function(data, input) {
    test <- kruskal.test(data$y, data$g)
    c(H = unname(test$statistic), df = unname(test$parameter), p = test$p.value)
  },
  levene = function(data, input) {
    spread <- function(centre) {
      table <- anova(aov(abs(data$y - ave(data$y, data$g, FUN = centre)) ~ data$g))
      c(F = table$`F value`[1], df1 = table$Df[1], df2 = table$Df[2], p = table$`Pr(>F)`[1])
    }
    c(levene_mean = spread(mean), brown_forsythe_median = spread(median))
  },
  p_adjust = function(data, input) {
    if (is.null(input$p)) return(NULL)
    p <- numbers(input$p)
    unlist(lapply(c(holm = "holm", bonferroni = "bonferroni", BH = "BH"), function(method) p.adjust(p, method)))
  },
  friedman = function(data, input) {
    test <- friedman.test(matrix(data$y, ncol = nlevels(data$g)))
    c(chi2 = unname(test$statistic), df = unname(test$parameter), p = test$p.value)
  },
  kendall_w = function(data, input) {
    test <- friedman.test(t(vapply(input$scores, numbers, numeric(length(input$scores[[1]])))))
    c(friedman_chi2 = unname(test$statistic), df = unname(test$parameter), p = test$p.value)
  },
  sign_test = function(data, input) {
    n <- input$nA + input$nB
    if (n == 0) return(NULL)
    p <- function(side) binom.test(input$nA, n, 0.5, alternative = side)$p.value
    c(p_greater = p("greater"), p_two_sided = p("two.sided"), p_less = p("less"))
  },
  mcnemar = function(data, input) {
    if (input$only_a == input$only_b) return(NULL)
    table <- matrix(c(input$both_hit, input$only_b, input$only_a, input$neither), 2)
    plain <- mcnemar.test(table, correct = FALSE)
    c(exact_p_two_sided = binom.test(input$only_a, input$only_a + input$only_b)$p.value,
      chi2_uncorrected = unname(plain$statistic), p_uncorrected = plain$p.value)
  },
  power = function(data, input) {
    if (is.null(input$n_per_group) || is.null(input$f)) return(NULL)
    k <- input$groups
    c(power_anova_test = power.anova.test(groups = k, n = input$n_per_group, between.var = input$f^2 * k / (k - 1),
                                          within.var = 1, sig.level = input$alpha)$power)
  },
  equivalence = function(data, input) {
    pair <- lapply(c(input$a, input$b), function(name) data$y[data$g == name])
    against <- function(mu, side) t.test(pair[[1]], pair[[2]], mu = mu, alternative = side)$p.value
    test <- t.test(pair[[1]], pair[[2]], conf.level = 1 - 2 * input$alpha)
    c(df = unname(test$parameter), se = test$stderr, ci_low = test$conf.int[1], ci_high = test$conf.int[2],
      p_equivalence = max(against(-input$bound, "greater"), against(input$bound, "less")),
      p_minimum = min(1, 2 * against(input$bound, "greater"), 2 * against(-input$bound, "less")))
  },
  tukey_hsd = function(data, input) {
    table <- TukeyHSD(aov(y ~ g, data), conf.level = 1 - input$alpha)$g
    c(pairs.diff_b_minus_a = unname(table[, "diff"]), pairs.lwr = unname(table[, "lwr"]), pairs.upr = unname(table[, "upr"]))
  }
)

folder <- commandArgs(trailingOnly = TRUE)[1]
for (name in names(procedures)) {
  content <- read_json(file.path(folder, paste0(name, ".json")))
  for (case in content$cases) {
    data <- if (is.null(case$input$dataset)) NULL else grouped(content$datasets[[case$input$dataset]])
    values <- procedures[[name]](data, case$input)
    for (field in names(values)) cat(paste(name, case$id, field, sprintf("%.15g", values[[field]]), sep = "\t"), "\n", sep = "")
  }
}
