/** How many of an item are in stock. */
export function qty(stock, item) {
  return stock[item]?.count ?? 0;
}

/** What one of an item costs, in cents. */
export function price(stock, item) {
  return stock[item]?.cents ?? 0;
}
