"""What artificial players know of War of Civilizations."""

from players.knowledge import Beginnings, Course, Features, Knowledge
from players.war_of_civilizations import features, outlook

KNOWLEDGE = Knowledge(
    Features(features.NAMES, features.features, features.phase),
    Beginnings(Features(outlook.NAMES, outlook.features, outlook.phase), outlook.begins),
    Course(features.pending, features.stage, features.unsettled, features.round_of),
)
