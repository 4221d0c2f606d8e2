"""One rank is ended by SIGTERM from outside and says nothing; the others say a lot."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
star.train(30, 3000)
