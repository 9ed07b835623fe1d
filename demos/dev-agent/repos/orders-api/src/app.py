from fastapi import FastAPI

app = FastAPI()


@app.get("/orders/{order_id}")
def read_order(order_id: str) -> dict[str, str]:
    return {"id": order_id}
