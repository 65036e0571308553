"""Which chart shows which result, one module for each noun. Pure; `charting` draws."""
