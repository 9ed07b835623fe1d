import { visibleText } from '@agentci/lib/text';

/**
 * Actions of a service for a customer, done or planned. A customer who books or changes something
 * says "my".
 */
const DONE =
  '(?:processed|issued|refunded|approved|initiated|credited|escalated|scheduled|rescheduled|reserved|upgraded|waived|cancelled|canceled|updated|booked|rebooked|changed|moved|confirmed|arranged|applied|reimbursed|activated|deactivated|closed|reopened|located|found|pulled up|looked up|reviewed|verified|transferred|completed|submitted|shipped|delivered|dispatched|declined|denied|rejected|granted|extended|modified|adjusted)';
const DO =
  '(?:process|issue|refund|approve|initiate|credit|escalate|schedule|reschedule|reserve|upgrade|waive|cancel|update|book|rebook|change|move|confirm|arrange|apply|reimburse|activate|look up|pull up|check|review|verify|track)';
const SERVED =
  '(?:refund|order|booking|reservation|request|account|subscription|ticket|flight|payment|package|return|replacement|exchange|claim|case|appointment|membership|credit|cancellation|upgrade|shipment|delivery|details|profile|address|voucher|complaint|trip|seat|stay|room|purchase)s?';
const YOURS = `your (?:[\\p{L}\\d'-]+ ){0,2}${SERVED}\\b`;
const RECORD =
  '(?:order|booking|reservation|account|customer|confirmation|membership|member|tracking|policy|card)';
const SOON =
  '(?:(?:now|just|already|also|successfully|gone ahead and|go ahead and|certainly|definitely|gladly|happily) )*';
const WE = "(?:i|we)(?:'ve| have|'ll| will| can| could|'d| would|'m| am|'re| are)?";

interface Phrase {
  readonly says: string;
  /** With these words it is a message of a customer. */
  readonly unless?: RegExp;
  /** A user whose persona has these words may say it. */
  readonly unlessPersona?: RegExp;
}
const OWN = /\b(?:my|mine|our|ours|me find|me understand)\b/i;
const ASKS = /\?\s*$/;

/** Phrases of a service, which a customer does not use. */
const PHRASES: readonly Phrase[] = [
  { says: 'as an ai' },
  {
    says: `(?:i'm|i am) (?:(?:just|only|actually|really) )*an? (?:(?:ai|artificial intelligence)(?= *(?:[.,;!?)]|$)| (?:language|and|so|but|chat|model|assistant|program|system)\\b)|(?:large )?language model|chat ?bot\\b)`,
  },
  {
    says: `(?:i'm|i am|this is) (?:your|an?|the) (?:ai |virtual |support |customer service |customer support )*(?:assistant|agent|representative)`,
    unlessPersona: /\b(?:agent|assistant|representative)\b/i,
  },
  {
    says: "(?:i'll|i will) be (?:assisting|helping) you|you(?:'re| are) (?:speaking|chatting) with",
  },
  // Offers of help.
  { says: '(?:how|what) (?:can|may|might|could|shall) i (?:help|assist|do for) you', unless: OWN },
  {
    says: 'how (?:can|may) i (?:help|assist|be of (?:help|service|assistance))(?: today| further)?(?= *(?:[?.!,]|$))',
  },
  { says: 'anything else (?:that )?(?:i|we) can (?:help|assist|do for you)' },
  {
    says: "anything else (?:that )?you(?:'d| would)? (?:need|like|want) (?:help|assistance|me to)",
  },
  { says: `${WE} ${SOON}(?:always )?(?:here|be here) to (?:help|assist)` },
  {
    says: `(?:i'm|i am|we're|we are|i'd be|i would be|we'd be|we would be) (?:more than |very )?(?:happy|glad|pleased) to (?:help|assist)(?! you (?:find|locate|look|search|understand|track|sort|figure))`,
  },
  {
    says: "(?:i can|i'll|i will|let me|we can|we'll) (?:certainly |definitely |gladly )?(?:help|assist) you(?= *(?:[?.!,]|$)| with (?:that|this|your)| today)",
    unless: OWN,
  },
  {
    says: "(?:feel free|don't hesitate|do not hesitate) to (?:ask|reach out|contact|let (?:me|us) know)",
  },
  {
    says: 'let (?:me|us) know if you(?: still)? (?:need|require) (?:any )?(?:further |more |additional |other )?(?:help|assistance)',
  },
  {
    says: 'thank you for (?:contacting|reaching out|calling|choosing|shopping|being a (?:valued|loyal))',
  },
  {
    says: 'sorry to hear (?:about your|that you|you)|understand (?:your (?:frustration|concern)|how frustrating)|we apologi[sz]e for',
  },
  {
    says: `would you (?:like|prefer) (?:a|the|to (?:receive|get) (?:a|the)) (?:refund|replacement|exchange|store credit|voucher)`,
  },
  {
    says: `(?:would you like|do you want) me to ${SOON}${DO} (?:your|you|(?:it|that|this|the [\\p{L}]+) for you|a refund|the refund)\\b`,
    unless: OWN,
  },
  {
    says: `(?:would you like|do you want) me to ${SOON}(?:refund|reimburse|credit|issue|process|rebook|waive|look up|pull up) |(?:shall|should) (?:i|we) ${SOON}(?:refund|reimburse|credit|issue|rebook|waive) `,
    unless: OWN,
  },
  {
    says: `(?:which|what) (?:[\\p{L}-]+ ){0,3}(?:(?:would|do) you (?:like|want|wish|need)|did you want|are you (?:looking|trying|wanting)) to (?:return|refund|exchange|cancel|book|change|replace|order|buy|purchase|track|report)\\b`,
    unless: OWN,
  },
  {
    says: '(?:when|where|what (?:time|date|day)|how) would you like to (?:fly|travel|depart|leave|return|pick (?:it|them) up|receive|pay)\\b',
    unless: OWN,
  },
  { says: 'how else (?:can|may) i|(?:can|may|could|shall) i (?:help|assist) you', unless: OWN },
  {
    says: 'what would you like (?:me to do|help with)|how would you like to (?:proceed|receive)|what seems to be the (?:problem|issue)',
  },
  {
    says: '(?:hold|wait|bear with (?:me|us)|moment)[^.?!]{0,20} while (?:i|we) (?:process|pull up|verify|transfer|connect|look into|(?:check|review) your)',
    unless: OWN,
  },
  { says: '(?:transfer|transferring|connect|connecting) you (?:to|with)' },
  {
    says: 'rest assured|we value your|our (?:records|(?:return|refund|cancellation) polic(?:y|ies))',
  },
  // Actions done or promised for the customer.
  {
    says: `you(?:'re| are) all set|(?:i|we)(?: can)? see (?:that )?(?:${YOURS}|you(?:'ve| have)? (?:ordered|purchased|booked|requested|placed))`,
    unless: ASKS,
  },
  {
    says: `(?:i|we)(?: can|'d like to|'m able to|'ll) offer you (?:an?|the) (?:[\\p{L}\\d%]+ ){0,2}(?:refund|replacement|credit|discount|voucher)`,
  },
  { says: `${YOURS} (?:is|are) (?:now )?(?:all set|complete|on (?:its|the) way)`, unless: ASKS },
  {
    says: `${WE} ${SOON}(?:${DONE}|${DO}) ${YOURS}`,
    unless: /\b(?:my|mine|our|ours|if(?! you)|unless|whether|can i|could i|may i)\b/i,
  },
  {
    says: `${WE} ${SOON}(?:refund|refunded|reimburse|reimbursed|credit|credited) (?:you|your)\\b`,
    unless: /\b(?:my|mine|our|ours|if(?! you)|unless|whether|can i|could i|may i)\b/i,
  },
  {
    says: `${WE} ${SOON}(?:processed|issued|refunded|approved|initiated|credited|waived|reimbursed|process|issue|approve|initiate|waive|reimburse) (?:you (?:a|an|the)|an?|the|that|this) (?:[\\p{L}]+ ){0,2}(?:refund|credit|replacement|reimbursement|voucher|fee|return label)`,
    unless: OWN,
  },
  {
    says: `${WE} ${SOON}(?:${DONE}|${DO})[^.?!]{0,60} (?:for you|on your behalf)(?= *(?:[.,;!?]|$|now|today|right))`,
    unless:
      /\b(?:my|mine|our|ours|found|find|check|checked|reviewed?|looked up|look up|verify|verified|confirm|confirmed)\b/i,
  },
  {
    says: `${WE} ${SOON}(?:applied|added|credited|issued) [^.?!]{1,40} (?:to|on) your (?:account|card|order|booking|bill)`,
    unless: OWN,
  },
  {
    says: 'let me (?:check|look|pull|find|see) (?:that|this|it|into (?:that|this|it)|your [\\p{L}]+)(?: up| out)? for you',
  },
  {
    says: `${YOURS}(?: (?:of|for|to|from|number|request) [^.?!]{1,40}?)? (?:has|have|was|were|is|are|will be|is being) (?:(?:now|just|already|also|successfully|been|being|fully) )*${DONE}`,
    unless: ASKS,
  },
  {
    says: "you(?:'ll| will| should) (?:shortly |soon )?(?:receive|get|see) (?:a|an|the|your) (?:[\\p{L}]+ ){0,2}(?:refund|confirmation|credit|return label)",
    unless: ASKS,
  },
  {
    says: `${WE} ${SOON}(?:send|sent|email|emailed|e-mailed|mailed) you (?:a|an|the|your) (?:[\\p{L}]+ ){0,2}(?:refund|replacement|return label|shipping label|confirmation|voucher)`,
  },
  // Questions for facts that the customer knows.
  {
    says: `(?:(?:^|please |kindly |(?:could|can|would|will) you (?:please )?|need you to |ask you to )(?:provide|share|tell|give|confirm|verify|send|enter)(?: me| us)?(?: with)?|(?:may|can|could) (?:i|we) (?:please )?(?:have|get)) your (?:[\\p{L}-]+ ){0,2}?${RECORD}(?: reference| confirmation)?(?: (?:number|id|code|details|reference|holder|email|name))?(?= *(?:[?.!,]|$| so | and | to | please| first| for verification))`,
    unless: /\b(?:my|our|pay|transfer)\b|\bi (?:can't|cannot|don't)\b/i,
  },
  {
    says: `(?:(?:may|can|could) (?:i|we) (?:please )?(?:have|get|ask for)|(?:could|can|would|will) you (?:please )?(?:provide|share|tell|give|confirm|verify|spell)(?: me| us)?(?: with)?|(?:^|please )(?:provide|confirm|verify|spell)|what(?:'s| is)) your (?:full (?:legal )?name|date of birth|birth ?date|billing address|(?:shipping|delivery|mailing|home) address|zip(?: code)?|postal code|postcode|social security number)`,
    unless:
      /\b(?:my|our|complaint|records?|manager|supervisor|so (?:that )?i can|to (?:ship|send|return|mail))\b/i,
  },
  { says: `what(?:'s| is) your ${RECORD} (?:number|id|code|reference)`, unless: OWN },
  {
    says: 'your (?:e-?mail(?: address)?|phone(?: number)?|name) (?:associated|linked|registered|on (?:the|your) (?:account|order|booking))|the e-?mail(?: address)? (?:associated|linked) with your',
  },
];

const COMPILED = PHRASES.map((phrase) => ({
  ...phrase,
  says: new RegExp(`(?<![\\p{L}'])(?:${phrase.says})`, 'iu'),
}));

/** Phrases with which the user quotes someone. */
const REPORTED =
  /["“][^"”]{0,400}["”]|\b(?:says?|said|saying|told|wrote|writes|tells (?:me|us)|claims?|claimed|states?|stated|shows?|showed|reads|mentions?|mentioned|promised|informed (?:me|us)|according to|assured me|emailed me|answered|replied)\b[^.!?]{0,200}/gi;

/** A message that names its own role. */
const ROLE =
  /^[\s*_#>"'“[(<-]*(?:(?:ai|virtual|support|service|customer (?:service|support)) )?(?:agent|assistant|representative|chat ?bot|bot|system|model|ai)[\s*_\])>]*[:：]/i;

/**
 * Whether a message comes from the serving side: it offers help, reports an action for "you", or
 * asks for the customer's details.
 */
export function servesSomeone(message: string, persona = ''): boolean {
  if (ROLE.test(visibleText(message))) return true;
  const own = message.replaceAll('’', "'").replace(REPORTED, ' ');
  const phrases = COMPILED.filter(({ unlessPersona }) => unlessPersona?.test(persona) !== true);
  return sentencesOf(own).some((sentence) =>
    phrases.some(({ says, unless }) => says.test(sentence) && unless?.test(sentence) !== true),
  );
}

const MAX_SENTENCE = 600;
const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .flatMap((sentence) => sentence.match(new RegExp(`[\\s\\S]{1,${MAX_SENTENCE}}`, 'g')) ?? [])
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim());
