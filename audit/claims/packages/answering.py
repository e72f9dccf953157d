"""Served in the environment of a package: function([accountant, kind, parameters]), for the file named last."""

import importlib.util
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
spec = importlib.util.spec_from_file_location("answers", sys.argv[-1])
ANSWERS = None


def function(question):
    """Return a number; for no question, the pairs of accountants and kinds."""
    global ANSWERS
    if ANSWERS is None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        ANSWERS = module.ANSWERS
    if question is None:
        return [list(pair) for pair in ANSWERS]
    accountant, kind, parameters = question
    return float(ANSWERS[accountant, kind](**parameters))
