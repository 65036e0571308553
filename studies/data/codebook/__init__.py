"""Every exported variable, declared once: the declaration makes the columns and the codebook alike."""
