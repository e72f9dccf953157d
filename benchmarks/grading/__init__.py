"""The time that the grading of a class takes."""
