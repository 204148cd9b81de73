"""Two for each customer over a whole campaign, beside a limit on all purchases of the product."""
import os
import redis

tallyd = redis.Redis.from_url(os.environ.get("TALLYD", "redis://127.0.0.1:6379"))


def begin(product, campaign, limit, window):
    """A window longer than the campaign: a purchase counts until its end. 0 is all purchases of the product."""
    tallyd.execute_command("QUOTA.SETLIMIT", "shop", product, campaign, limit, window, product, 0, 10, "30d")


def end(product, campaign):
    tallyd.execute_command("QUOTA.DELLIMIT", "shop", product, "ACTIONS", campaign)


def buy(customer, order, product, campaign, count):
    """ONCE: an order that is delivered again is not counted again."""
    applied, _, left = tallyd.execute_command(
        "QUOTA.BUY", "shop", customer, order, "ITEMS", product, campaign, count, "ONCE")
    return applied == 1, {action.decode(): n for action, n in left[0]}


begin("tea", "spring", 2, "90d")
print(buy("ann", "order-1", "tea", "spring", 2))
print(buy("ann", "order-2", "tea", "spring", 1))
print(buy("ann", "order-3", "tea", 0, 1))
end("tea", "spring")
print(buy("ann", "order-4", "tea", "spring", 1))
# prints
#   (True, {'0': 8, 'spring': 0})
#   (False, {'0': 8, 'spring': 0})
#   (True, {'0': 7, 'spring': 0})
#   (True, {'0': 6})
