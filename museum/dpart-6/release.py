import warnings

import pandas as pd
from dpart.engines import PrivBayes

BOUNDS = {
    "city": {"categories": ["Bergen", "Oslo", "Tromsø"]},
    "trade": {"categories": ["baker", "smith", "tailor"]},
}
SYNTHETIC = 50
warnings.simplefilter("ignore")


def function(people):
    """Return the cities and the trades of fifty synthetic people, without their numbers."""
    engine = PrivBayes(epsilon=1.0, bounds=BOUNDS)
    engine.fit(pd.DataFrame(people, columns=list(BOUNDS)))
    made = engine.sample(SYNTHETIC)
    return [sorted(set(made[column])) for column in BOUNDS]
