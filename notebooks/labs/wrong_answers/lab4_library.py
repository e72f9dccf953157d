# %% Equal queries that move together {"part": 1, "points": 0, "hint": "All queries move the same way"}
stoddard = ([1, 1], [0, 0])

# %% Accepted, because no sample showed anything {"part": 2, "points": 0, "hint": "Ask several queries"}
lee = None

# %% One answer {"part": 2, "points": 0, "hint": "All queries move the same way"}
lee = ([0], [1])

# %% Two queries {"part": 3, "points": 0, "hint": "How many queries"}
chen = ([0, 1], [1, 0])

# %% All queries move up {"part": 3, "points": 0, "hint": "Move some up, others down"}
chen = ([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0])

# %% One negative answer before {"part": 4, "points": 0, "hint": "What do all the negative answers before it say"}
roth = ([0, 1], [1, 0])

# %% Queries two apart {"part": 4, "points": 0, "hint": "at most 1, up or down"}
roth = ([0, 0, 2], [2, 2, 0])

# %% The proof is taken for that of the bounded version {"part": 5, "points": 1, "hint": "Its noise ends at 8"}
lyu, bounded = None, None

# %% The sound version is accused {"part": 5, "points": 0, "hint": "It has a proof"}
lyu = ([0, 0, 0, 1], [1, 1, 1, 0])
bounded = None

# %% Queries that the bounded noise can lift {"part": 5, "points": 1, "hint": "so far below the threshold"}
lyu, bounded = None, ([-8, 1], [-9, 2])
