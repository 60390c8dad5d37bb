/** Money and numbers as text. Pure. */

/** US dollars; small amounts with as many digits as they need. */
export const amount = (microusd: number): string => (microusd / 1e6).toFixed(microusd < 1e6 ? 4 : 2);
/** `12.34 USD` */
export const money = (microusd: number): string => `${amount(microusd)} USD`;
/** `1,234` */
export const count = (n: number): string => n.toLocaleString('en-US');
