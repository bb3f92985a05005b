"""The prover of fairness: search play of a game and of the table for a seat that gains by not playing.

    ./run fairness war --budget 20000 --seed 1

It prints each line of play that it finds as a scenario (games/CONVENTIONS.md), which `./run scenarios` runs. It proves faults, not their
absence: a run that finds nothing has looked at so many positions.

The search knows no list of tricks. It knows what it is not to play: every action that a seat may choose at the table, and waiting. It tries
those in every order, up to a length, and again and again (spoilers.py). It looks at each position that it reaches with a few questions
(promises.py), and at each position of the game with three more (departures.py):

| promise | a line breaks it in which |
| --- | --- |
| `result` | a seat that loses its match when everybody plays on ends it without having lost |
| `time` | a seat keeps another player waiting for several times its own time, and may still play on |
| `rights` | a seat takes from another the right to resign or to dispute |
| `hands` | somebody comes to play a seat who plays another one, or was shown what the seats may not see |
| `skipped` | the default action of a seat harms the others more than another one would |
| `leaving` | a seat leaves, and another one loses what a battle would bring, or finds in its turn what nobody holds any more |
| `order` | one of the others begins more rounds after a seat has left |

Everything follows from the seed. The budget counts positions, so a run takes the same way on every machine.
"""

from tools.fairness.searching import main as main
