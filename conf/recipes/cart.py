"""A cart that holds its goods for ten minutes, at most two of a product for each customer."""
import os
import redis

tallyd = redis.Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"))


def put_in_cart(customer, cart, product, count):
    applied, _, left = tallyd.execute_command(
        "QUOTA.BUY", "shop", customer, cart, "ITEMS", product, 0, count, "ONCE", "HOLD", "10m")
    return applied == 1, left[0][0][1]


def pay(customer, cart):
    """False: the ten minutes are over, or the cart was emptied. It may be called again, after a lost reply too."""
    return tallyd.execute_command("QUOTA.CONFIRM", "shop", customer, cart) == 1


def take_out(customer, cart, product, count):
    return tallyd.execute_command("QUOTA.RETURN", "shop", customer, cart, "ITEMS", product, count)[0]


tallyd.execute_command("QUOTA.SETLIMIT", "shop", 4711, 0, 2, "30d")
print("two in the cart:", put_in_cart("ann", "cart-1", 4711, 2))
print("one more:", put_in_cart("ann", "cart-2", 4711, 1))
print("one out again:", take_out("ann", "cart-1", 4711, 1))
print("paid:", pay("ann", "cart-1"), pay("ann", "cart-1"))
print("paid without a cart:", pay("ann", "cart-3"))
print("abandoned:", put_in_cart("bob", "cart-4", 4711, 2))
# prints
#   two in the cart: (True, 0)
#   one more: (False, 0)
#   one out again: 1
#   paid: True True
#   paid without a cart: False
#   abandoned: (True, 0)
