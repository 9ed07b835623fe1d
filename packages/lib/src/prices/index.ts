export {
  loadPrices,
  PRICES_VERSION,
  type PricesPerMillion,
  type PriceTable,
  priceFromTable,
} from './prices.ts';
