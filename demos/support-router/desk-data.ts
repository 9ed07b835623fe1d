// The support team's small database. Fictional people, reserved example domains.
export interface Customer {
  readonly code: string;
  readonly plan: string;
  readonly email: string;
  readonly invoices: readonly {
    readonly id: string;
    readonly amount: number;
    readonly month: string;
  }[];
}

export const CUSTOMERS: ReadonlyMap<string, Customer> = new Map([
  [
    'cus_1001',
    {
      code: '4711',
      plan: 'Pro',
      email: 'ada@example.com',
      invoices: [
        { id: 'inv_204', amount: 29, month: 'last month' },
        { id: 'inv_205', amount: 29, month: 'this month' },
      ],
    },
  ],
  [
    'cus_1002',
    {
      code: '2718',
      plan: 'Business',
      email: 'grace@example.org',
      invoices: [{ id: 'inv_310', amount: 240, month: 'this month' }],
    },
  ],
]);

export const ERROR_CODES: ReadonlyMap<string, string> = new Map([
  ['E-SYNC-003', 'the sync token has expired; sign out and in again'],
  ['E-NET-010', 'the proxy refuses web sockets; allow them for sync.example.com'],
]);

export const ARTICLES: readonly { readonly about: RegExp; readonly text: string }[] = [
  { about: /dark mode/i, text: 'Dark mode is under Settings, Appearance.' },
  {
    about: /mobile|phone|tablet/i,
    text: 'There are mobile apps for iOS and Android with the same features.',
  },
  {
    about: /difference|compare|pro (?:vs|and|or) business/i,
    text: 'Pro is for one person; Business adds shared folders and roles.',
  },
  {
    about: /feature|offer|can (?:it|you) do/i,
    text: 'The main features are sync, sharing and version history.',
  },
  { about: /crash/i, text: 'After a crash, update to the newest version and clear the cache.' },
  { about: /sync/i, text: 'When sync stops, check the connection, then pause and resume it.' },
];
