"""Files of a study's data, each with codebook, counts, checksums, allocation log and flow."""
