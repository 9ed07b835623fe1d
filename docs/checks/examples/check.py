from agentci_check import check

check(lambda run: ("refund" in (run["answer"] or "").lower(), "mentions the refund"))
