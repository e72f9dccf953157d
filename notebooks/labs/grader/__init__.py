"""Five labs that grade themselves: the parts of each, their points, and what is wrong with an answer.

A part is graded by Subnormal's exact evidence on what the student wrote: worlds, an event, a sampler. The student's
copy calls the same functions as the teacher's grading does.
"""
