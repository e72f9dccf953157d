"""What a teacher needs: both copies of each lab, the grading of submissions, and typical wrong answers."""
