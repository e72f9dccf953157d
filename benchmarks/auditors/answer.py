"""Run in the environment of a package: answer.py PACKAGE_FILE FOLDER DELTA ALPHA SECONDS prints the bounds.

A line for each auditor and each file of scores in the folder: whether the auditor assumes a Gaussian curve, its name,
the name of the file, and its bounds. SECONDS of the processor end a line after at least one bound. It imports no other
file.
"""

import importlib.util
import json
import logging
import sys
import time
import warnings
from pathlib import Path

import numpy as np


def bounds(auditor, scores, delta, alpha, seconds):
    found, ends = [], time.process_time() + seconds
    for one, isin in zip(scores["scores"], scores["included"], strict=True):
        if found and time.process_time() > ends:
            break
        try:
            found.append(float(auditor(one, isin, delta, alpha)))
        except Exception:  # who states nothing states nothing false
            found.append(0.0)
    return found


def main(file, folder, delta, alpha, seconds):
    spec = importlib.util.spec_from_file_location("auditors", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, auditor in module.AUDITORS.items():
        for held in sorted(Path(folder).glob("*.npz"), key=lambda path: int(path.stem)):
            with np.load(held) as scores:
                if scores["gaussian"] or name not in module.GAUSSIAN:
                    found = bounds(auditor, scores, float(delta), float(alpha), float(seconds))
                    print(json.dumps([name in module.GAUSSIAN, name, int(held.stem), found]), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    main(*sys.argv[1:])
