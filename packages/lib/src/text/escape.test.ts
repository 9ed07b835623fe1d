import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  defuseFormula,
  escapeHtml,
  escapeMarkdownTableCell,
  escapePrometheusLabel,
  escapeTerminal,
  escapeTerminalLine,
  escapeWorkflowCommandData,
  escapeWorkflowCommandProperty,
  escapeXmlAttribute,
  escapeXmlText,
  fuseFormula,
  jsonInHtml,
} from './escape.ts';

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b[31m',
        '\x1b]8;;http://x\x07',
        '\x9b2J',
        '\r\n',
        '\n::error::x',
        '</script>',
        '<!--',
        ']]>',
        '\u202e',
        '\ud800',
        '|',
        '%',
      ),
      fc.string({ unit: 'binary' }),
    ),
  )
  .map((parts) => parts.join(''));

describe('escapeTerminal', () => {
  test.each([
    { text: 'plain text\n\tindented', shown: 'plain text\n\tindented' },
    { text: '\x1b[31mred\x1b[0m', shown: 'red' },
    { text: '\x1b[2J\x1b[1;1Hgone', shown: 'gone' },
    { text: '\x1b]0;title\x07after', shown: 'after' },
    { text: '\x1b]8;;https://evil\x1b\\link\x1b]8;;\x1b\\', shown: 'link' },
    { text: '\x1bP1$r\x1b\\dcs', shown: 'dcs' },
    { text: '\x9b31mC1', shown: 'C1' },
    { text: '\x1bcreset', shown: 'reset' },
    { text: 'PASS\rFAIL', shown: 'PASSFAIL' },
    { text: 'a\r\nb', shown: 'a\nb' },
    { text: 'a\bb\x07\x00', shown: 'ab' },
    { text: 'user\u202egnp.exe', shown: 'usergnp.exe' },
    { text: '\u2066x\u2069\u200f', shown: 'x' },
    { text: 'é 😀 한', shown: 'é 😀 한' },
    { text: 'a\u2028b', shown: 'a\nb' },
  ])('shows $text as $shown', ({ text, shown }) => {
    expect(escapeTerminal(text)).toBe(shown);
  });

  test('never lets a control character through', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const char of escapeTerminal(text)) {
          const code = char.codePointAt(0)!;
          expect(code === 9 || code === 10 || (code >= 32 && !(code >= 127 && code <= 159))).toBe(
            true,
          );
        }
        expect(escapeTerminalLine(text)).not.toMatch(/[\n\t\r]/);
      }),
    );
  });

  test('stays linear on unfinished sequences', () => {
    const start = performance.now();
    escapeTerminal('\x1b]'.repeat(200_000) + '\x1b['.repeat(200_000) + '0'.repeat(200_000));
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});

describe('workflow commands', () => {
  test('a new line cannot begin a command', () => {
    expect(escapeWorkflowCommandData('a\n::error::b\r%0A')).toBe('a%0A::error::b%0D%250A');
  });
  test('a property cannot end early', () => {
    expect(escapeWorkflowCommandProperty('C:\\a,line=1\n')).toBe('C%3A\\a%2Cline=1%0A');
  });
  test('decoding gives the text back', () => {
    const decode = (s: string) =>
      s
        .replaceAll('%2C', ',')
        .replaceAll('%3A', ':')
        .replaceAll('%0A', '\n')
        .replaceAll('%0D', '\r')
        .replaceAll('%25', '%');
    fc.assert(
      fc.property(hostile, (text) => {
        expect(decode(escapeWorkflowCommandProperty(text))).toBe(text);
      }),
    );
  });
});

describe('XML', () => {
  test.each([
    {
      text: '<a>&"\']]>',
      element: '&lt;a&gt;&amp;"\']]&gt;',
      attribute: '&lt;a&gt;&amp;&quot;&#39;]]&gt;',
    },
    { text: 'a\x00\x08\x1b\ufffe\uffffb', element: 'ab', attribute: 'ab' },
    { text: 'x\ud800y\udc00z', element: 'xyz', attribute: 'xyz' },
    { text: '😀', element: '😀', attribute: '😀' },
    { text: 'a\r\n\tb', element: 'a&#13;\n\tb', attribute: 'a&#13;&#10;&#9;b' },
  ])('$text', ({ text, element, attribute }) => {
    expect(escapeXmlText(text)).toBe(element);
    expect(escapeXmlAttribute(text)).toBe(attribute);
  });
});

describe('HTML', () => {
  test('markup and quotes become references', () => {
    expect(escapeHtml('<img src=x onerror="a(\'b\')">&\0')).toBe(
      '&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;\ufffd',
    );
  });
  test('JSON in a script cannot leave it, and reads back the same', () => {
    const value = { a: '</script><!-- \u2028 & <script>', b: [1, null] };
    expect(jsonInHtml(value)).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(jsonInHtml(value))).toEqual(value);
    expect(jsonInHtml(undefined)).toBe('null');
  });
});

describe('Markdown table cell', () => {
  test.each([
    'a | b',
    'a\nb',
    '[x](http://y)',
    '![x](y)',
    '<img src=x>',
    '`code|`',
    '@someone',
    '**bold**',
    'www.example.com',
    'https://x',
    '\\|',
  ])('stays one inert cell: %j', (text) => {
    expect(escapeMarkdownTableCell(text)).not.toMatch(/[|\n<>[\]`*@\\]|:\/\/|www\./);
  });
  test('keeps plain words', () => {
    expect(escapeMarkdownTableCell('cost 0.02 of at most 0.01')).toBe('cost 0.02 of at most 0.01');
  });
});

test('a Prometheus label keeps its quotes', () => {
  expect(escapePrometheusLabel('a"b\\c\nd\ud800')).toBe('a\\"b\\\\c\\nd\ufffd');
});

test('a text that a spreadsheet would run is kept from it, and reads back as it was', () => {
  for (const text of [
    '=1+1',
    '+a',
    '-agent',
    '@team',
    "'=x",
    "''-x",
    "'quoted'",
    'plain',
    '',
    "'",
  ]) {
    expect(defuseFormula(text)).not.toMatch(/^[=+\-@]/);
    expect(fuseFormula(defuseFormula(text))).toBe(text);
  }
});
