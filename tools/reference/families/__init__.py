"""The cases, one file for each family of operators; each has `all_cases()`."""
