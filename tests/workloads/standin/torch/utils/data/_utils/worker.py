def _worker_loop(fetch, questions, answers):
    while True:
        index = questions.get()
        answers.put((index, fetch(index)))
