"""What artificial players know of War!."""

from players.knowledge import Beginnings, Features, Knowledge
from players.war import features, outlook

KNOWLEDGE = Knowledge(
    Features(features.NAMES, features.features, features.phase),
    Beginnings(Features(outlook.NAMES, outlook.features, outlook.phase), outlook.begins),
)
