"""The paper again: its whole study on another dataset, with simulated participants, beside what it published."""
