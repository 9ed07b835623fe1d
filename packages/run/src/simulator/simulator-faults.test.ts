import type { UserPlan } from '@agentci/spec';
import { describe, expect, test } from 'vitest';
import { simulatorFault } from './simulator-faults.ts';

const PLAN: UserPlan = {
  persona: 'Polite and brief. Answers only what is asked.',
  goal: 'The desk lamp is refunded to the card, and the bottle is kept.',
  facts: {
    order: 'A-4711',
    item: 'desk lamp',
    card: '4111 1111 1111 1234',
    phone: '+1 (555) 010-0199',
    email: 'anna.berg@example.com',
    bought: '2024-05-01',
    pickup: '15:30',
    price: '1200.00',
    quantity: '2 lamps',
    account: '88',
  },
};
const START = 'Hi, I want to return something.';
const ANSWERS = [
  'What is your order number?',
  'Is it case 9981? Which item do you want to return?',
];

interface Brief {
  readonly plan?: UserPlan;
  readonly start?: string;
  readonly before?: readonly string[];
  readonly answers?: readonly string[];
}

const faultOf = (
  message: string,
  { plan = PLAN, start = START, before = [start], answers = ANSWERS }: Brief = {},
) => simulatorFault({ plan, start, before, answers, uses: [], message });

/** Valid messages of a person with this brief. */
const GOOD: readonly string[] = [
  '5 stars for you!',
  'Thanks a million!',
  'I am a hundred percent sure.',
  'I have tried a dozen times.',
  'A thousand thanks.',
  'It is one in a million.',
  'It cost twelve hundred dollars.',
  'It cost a thousand two hundred.',
  'Two of them.',
  'Three of those are fine.',
  'It was May first.',
  'I bought it on the first of May.',
  'On May the first.',
  'the first of May, 2024',
  'I may first ask my wife.',
  'First may I ask something?',
  'I talked to four of you already.',
  'The order is A-4711.',
  'order a4711 please',
  'It is order #4711',
  'Order number: A 4711',
  'Sure, it was bought on May 1, 2024.',
  'I bought it on 1 May 2024.',
  'I bought it on May 1st.',
  'It was the 1st of May',
  'Purchased 05/01/2024.',
  'Gekauft am 01.05.2024',
  'It was 2024-05-01',
  'Sometime in May 2024.',
  'I bought it in 2024',
  'My phone is +1 555 010 0199.',
  'Call me at 555-010-0199',
  'call (555) 010-0199 please',
  'It is 15550100199.',
  'My card is 4111111111111234.',
  'The card: 4111-1111-1111-1234',
  'It ends in 1234.',
  'The card ending with 1234, please',
  'It starts with 4111.',
  'Pickup is at 3:30 pm.',
  'At 15:30.',
  'half past three in the afternoon',
  '3:30 p.m. works for me',
  'I paid 1200.',
  'I paid $1,200.00 for it.',
  'It was 1.200,00 euros',
  '1200 dollars',
  'I bought two lamps.',
  'There were 2 lamps in the parcel.',
  'The account is 88.',
  'Account eighty-eight.',
  'my mail is Anna.Berg@example.com',
  'Yes, case 9981.',
  'I have two questions.',
  'Can you give me 5 minutes?',
  'I have asked three times already.',
  'One more thing: keep the bottle.',
  'The other one, please.',
  'I am 100% sure.',
  'You are open 24/7, right?',
  'How can I help you find my order?',
  'You said "your refund has been issued", but nothing came.',
  'The mail says your order has been cancelled, is that true?',
  'I have updated my browser, still the same page.',
  'Yes, please.',
  'No, only the desk lamp.',
  'Please refund the desk lamp to my card.',
  'I want to keep the bottle.',
  'Maybe 2 of them are broken.',
  'Thank you, that is all.',
  'I would like a refund for the lamp, it came broken.',
  'How long does the refund take?',
  'Let me check the label first.',
  'What do you mean by case number?',
  'Is that my order number you want?',
  'It is the desk lamp from my last order.',
  'Forget it, I will call you at half past three.',
];

/** Invalid messages of a person with this brief. */
const BAD: readonly string[] = [
  'Seventeen of them.',
  'I have four hundred and twelve of them.',
  'It was a hundred dollars.',
  'I want a dozen lamps back.',
  'It cost a thousand euros.',
  'I paid a million dollars.',
  'There were half a dozen lamps.',
  'Two dozen lamps, please.',
  'I bought it on June fifth.',
  'It was the fifth of June.',
  'On June the fifth.',
  'It came on the twenty-first of May.',
  'May twenty-first, 2024.',
  'The order is A-4712.',
  'Order 4.',
  'order number 7',
  'It is order four.',
  'Order number ４２.',
  'My order is number forty-two.',
  'I bought it on May 2, 2024.',
  'It was 2024-05-10.',
  'I bought it on 01.06.2024',
  'It was on May 1, 2023.',
  'My phone is 555-010-0198.',
  'Call +44 20 7946 0958',
  'My card is 4111 1111 1111 9999.',
  'It ends in 4321.',
  'My card is 1111 1234 4111 1111',
  'The card number is 4111 1111.',
  'The digits are 1111 1111.',
  'Pickup is at 4:45 pm.',
  'at 16:30',
  'around quarter past six',
  'I paid 1250.',
  'I paid $12,000.00.',
  'It cost 1200.50',
  'I bought four lamps.',
  'I bought 3 lamps.',
  'There were seven lamps in the parcel.',
  'My mail is anna@example.org.',
  'Write to anna.berg@example.co',
  'The account is 89.',
  'Account ninety.',
  'Case 9982, right?',
  'My flight is LH400.',
  'The serial number is XK-99120.',
  'How can I help you today?',
  'How may I assist you?',
  "I've issued the refund. Is there anything else I can help with?",
  'Thank you for contacting support.',
  'Your refund has been processed.',
  'As an AI, I cannot do that.',
  'I am your virtual assistant.',
  'I’d be happy to help with your return.',
  'Could you please provide your order number?',
  'Let me check that for you.',
  'Polite and brief. Answers only what is asked',
  'polite and brief, answers only what is asked',
  'answers only what is asked',
  'The desk lamp is refunded to the card and the bottle is kept',
  'I want that the desk lamp is refunded to the card, and the bottle is kept',
  'What is your order number?',
  'what is your order number',
  'Which item do you want to return?',
];

const FLIGHT: Brief = {
  plan: {
    persona: 'Busy manager, impatient, writes short messages.',
    goal: 'Move the outbound flight to the next day without paying more than the budget.',
    facts: {
      name: 'Omar Haddad',
      booking: 'QX7Z2P',
      flight: 'LH 1234',
      date: '12 March 2025',
      passengers: '3',
      seat: '14C',
      budget: '450 EUR',
      frequent_flyer: 'LH-992003455',
      return: '2025-03-19T07:45',
      room: '512',
      pin: '0042',
      zip: '02139-4307',
      birth: '7 July 1985',
      height: '1.82 m',
      address: '221B Baker Street',
    },
  },
  start: 'I need to change my flight.',
  answers: [
    'Sure. May I have your booking code?',
    'I found two flights: 1) LH 1240 at 9:15 for €430 and 2) LH 1250 at 13:05 for €455. Which one do you prefer?',
  ],
};
const FLIGHT_GOOD: readonly string[] = [
  'QX7Z2P',
  'Booking code is qx7z2p.',
  'It is flight LH1234 on March 12',
  'lh-1234',
  '12/03/2025',
  '3/12/2025',
  'on the 12th of March',
  '12.3.2025',
  'three passengers',
  '3 people',
  'We are three.',
  'seat 14c',
  'My budget is 450 euros',
  '€450 max',
  '450.00 EUR',
  'no more than 450',
  'frequent flyer number LH992003455',
  'LH 992003455',
  '992003455',
  'ends in 3455',
  'return on 19 March at 7:45',
  'returning 2025-03-19 07:45',
  '7:45 am on the 19th',
  'room 512',
  'the pin is 0042',
  'zip 02139',
  '02139-4307',
  'born July 7, 1985',
  '07/07/85',
  'I am 1.82m tall',
  '1,82 m',
  '221b Baker street',
  'Number 1 please, LH 1240',
  'the 9:15 one',
  'option 2',
  'the second one',
  'LH 1240 at quarter past nine',
  'I take the first flight for 430',
  'The 1 pm flight is too late',
  'no, 455 is above my budget of 450',
  'Just move it to the next day',
  'I need to be there by noon',
  'It has been a long day, 2 kids and all',
  "It's Omar Haddad.",
  'We are a party of 3',
  'Is the 9:15 still free?',
  'flight number 1234',
  'LH 1234, seat 14 C',
  'Can you do it for 430 EUR?',
  'I said 450!',
  'Zwölfter März',
  'One way or another, hurry up.',
  '1240 works.',
];
/** Values that a user derives from known ones. */
const WORKED_OUT: readonly string[] = ['the 13th would be fine', 'That is five euros too much'];
const FLIGHT_BAD: readonly string[] = [
  'QX7Z2Q',
  'flight LH1235',
  'March 13 2024',
  'four passengers',
  '4 people',
  'we are five',
  'seat 15C',
  'budget is 500 euros',
  '€600',
  'LH-992003456',
  'ends in 3456',
  '19 March at 8:45',
  'room 513',
  'pin 0043',
  'pin 42 42',
  'zip 90210',
  'born July 8, 1985',
  'I am 1.92 m tall',
  '222B Baker street',
  'flight at 10:20',
  'omar@corp.example',
  'my phone is 0171 2345678',
  'Visa 4242 4242 4242 4242',
  'booking AB12CD',
  'I have 6 bags',
  'two hundred euros',
  'my budget is five hundred',
  'Sure. May I have your booking code?',
  'May I have your booking code',
  'Which one do you prefer',
  'Busy manager, impatient, writes short messages',
  'Move the outbound flight to the next day without paying more than the budget',
  'I can move your flight. Anything else I can help you with?',
  "I've booked the flight for you.",
  'I have booked your flight.',
  'Thank you for choosing our airline!',
  'order #9',
  'passport C01X00T47',
  'invoice 2025-0007',
  'age 41',
];
interface Case {
  readonly message: string;
  readonly brief?: Brief;
}
const ofFlight = (message: string): Case => ({ message, brief: FLIGHT });
const ALL_GOOD: readonly Case[] = [
  ...GOOD.map((message) => ({ message })),
  ...[...FLIGHT_GOOD, ...WORKED_OUT].map(ofFlight),
];
const ALL_BAD: readonly Case[] = [
  ...BAD.map((message) => ({ message })),
  ...FLIGHT_BAD.map(ofFlight),
];
const isBlamed = ({ message, brief }: Case): boolean => faultOf(message, brief) !== undefined;

describe('the detectors of a simulated user', () => {
  test.each(ALL_GOOD)('let a good user say: $message', ({ message, brief }) => {
    expect(faultOf(message, brief)).toBeUndefined();
  });

  test.each(ALL_BAD)('blame the user for: $message', ({ message, brief }) => {
    expect(faultOf(message, brief)).toBeDefined();
  });

  test('over all messages precision is at least 0.97 and recall 0.98', () => {
    const hits = ALL_BAD.filter(isBlamed).length;
    const blamed = ALL_GOOD.filter(isBlamed).length;
    expect(ALL_GOOD.length + ALL_BAD.length).toBeGreaterThanOrEqual(200);
    expect(hits / (hits + blamed)).toBeGreaterThanOrEqual(0.97);
    expect(hits / ALL_BAD.length).toBeGreaterThanOrEqual(0.98);
  });

  test.each([
    { uses: 'order', isKnown: true },
    { uses: 'Order', isKnown: true },
    { uses: 'order number', isKnown: true },
    { uses: 'order_id', isKnown: true },
    { uses: 'A-4711', isKnown: true },
    { uses: 'goal', isKnown: true },
    { uses: 'colour', isKnown: false },
    { uses: 'passport', isKnown: false },
  ])('a fact that the model names "$uses" is of the brief: $isKnown', ({ uses, isKnown }) => {
    const given = {
      plan: PLAN,
      start: START,
      before: [START],
      answers: ANSWERS,
      uses: [uses],
      message: 'Sure.',
    };
    expect(simulatorFault(given) === undefined).toBe(isKnown);
  });

  test("blame the user for a question of two words that is the agent's", () => {
    expect(faultOf('which order', { answers: ['Which order?'] })).toMatch(
      /repeats what the agent said/,
    );
    expect(faultOf('Refund it.', { answers: ['Refund it?'] })).toBeUndefined();
  });

  const SAME = ['Which order?', 'Which order?', 'Which order?'];
  const OTHER = ['Is it the lamp?', 'Is it broken?', 'Shall I refund it?'];
  test.each([
    {
      what: 'the same three times',
      said: ['hello', 'hello', 'hello'],
      answers: SAME,
      isLoop: true,
    },
    {
      what: 'the same but for case and signs',
      said: ['hello', 'Hello.', ' hello '],
      answers: SAME,
      isLoop: true,
    },
    {
      what: 'the same but for a full stop at the end',
      said: ['I want it', 'I want it.', 'i want it!'],
      answers: SAME,
      isLoop: true,
    },
    { what: 'nothing but signs', said: ['?!', '?!', '?!'], answers: SAME, isLoop: true },
    { what: 'the same twice', said: ['hello', 'Hello'], answers: SAME, isLoop: false },
    { what: 'yes to three questions', said: ['Yes.', 'yes', 'Yes'], answers: OTHER, isLoop: false },
    {
      what: 'yes to one question three times',
      said: ['Yes.', 'yes', 'Yes'],
      answers: SAME,
      isLoop: true,
    },
    {
      what: 'two things in turn',
      said: ['a b', 'c d', 'A b', 'c d.', 'a b', 'c d'],
      answers: SAME,
      isLoop: true,
    },
    {
      what: 'the same three times, with others between',
      said: ['hello', 'a b', 'hello', 'c d', 'hello'],
      answers: SAME,
      isLoop: true,
    },
    {
      what: 'three things three times',
      said: ['a b', 'c d', 'e f', 'a b', 'c d', 'e f', 'a b'],
      answers: SAME,
      isLoop: true,
    },
    {
      what: 'yes now and then, to other questions',
      said: ['Yes.', 'a b', 'yes', 'c d', 'Yes'],
      answers: ['One?', 'Two?', 'Three?', 'Four?', 'Five?', 'Six?'],
      isLoop: false,
    },
    {
      what: 'yes now and then, to one question',
      said: ['Yes.', 'a b', 'yes', 'c d', 'Yes'],
      answers: ['Hi.', 'One?', 'Two?', 'One?', 'Three?', 'One?'],
      isLoop: true,
    },
    {
      what: 'three things',
      said: ['a b', 'c d', 'e f', 'a b', 'c d', 'e f'],
      answers: SAME,
      isLoop: false,
    },
  ])('saying $what: loop $isLoop', ({ said, answers, isLoop }) => {
    const fault = faultOf(said.at(-1)!, { before: [START, ...said.slice(0, -1)], answers });
    expect(fault !== undefined).toBe(isLoop);
  });

  test.each([
    {
      goal: 'cancel my subscription',
      message: 'I want to cancel my subscription, please.',
      isEcho: false,
    },
    { goal: 'cancel my subscription', message: 'Cancel my subscription.', isEcho: true },
    {
      goal: 'Get the money for order A-4711 back.',
      message: 'get the money for order A-4711 back',
      isEcho: true,
    },
  ])('a short goal may be part of a message: $message', ({ goal, message, isEcho }) => {
    expect(faultOf(message, { plan: { ...PLAN, goal } }) !== undefined).toBe(isEcho);
  });

  test('a long text without an end is read in no time', () => {
    const began = performance.now();
    for (const part of ['a', 'a.', '1 ', '1-', 'one ', 'a@', '+1', '(', '1:', 'may 1 '])
      faultOf(part.repeat(20_000), { answers: [part.repeat(20_000)] });
    expect(performance.now() - began).toBeLessThan(5000);
  });
});
