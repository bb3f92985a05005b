"""The attacks of the aliens. `deeds` offers and carries out, `damage` computes, `facts` folds."""
