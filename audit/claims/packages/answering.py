"""Served in the environment of a package: function([accountant, kind, parameters]), for the file named last."""

import importlib.util
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
spec = importlib.util.spec_from_file_location("answers", sys.argv[-1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def function(question):
    """Return a number; for no question, the pairs of accountants and kinds."""
    if question is None:
        return [list(pair) for pair in module.ANSWERS]
    accountant, kind, parameters = question
    return float(module.ANSWERS[accountant, kind](**parameters))
