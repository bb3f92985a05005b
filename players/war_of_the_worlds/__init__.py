"""What artificial players know of War of the Worlds."""

from players.knowledge import Beginnings, Course, Features, Knowledge
from players.war_of_the_worlds import features, outlook

KNOWLEDGE = Knowledge(
    Features(features.NAMES, features.features, features.phase),
    Beginnings(Features(outlook.NAMES, outlook.features, outlook.phase), outlook.begins),
    Course(features.pending),
)
