def work(job: str) -> str:
    return job.upper()
