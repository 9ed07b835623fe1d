import { present } from '@agentci/lib/data';
import { escapeSlack } from '@agentci/lib/text';
import { fillTemplate } from './notify/fill-template.ts';
import { type Notice, noticeOf } from './notify/notice.ts';
import type { Reporter } from './reporter.ts';

const ICONS: Readonly<Record<string, string>> = { passed: ':white_check_mark:', failed: ':x:' };
/** Slack's limit for a section. */
const MAX_SECTION = 2900;

export const reporter: Reporter = {
  name: 'slack',
  summary: 'a message for a channel, sent to the incoming webhook in AGENTCI_SLACK_WEBHOOK_URL',
  extensions: [],
  machineReadable: true,
  render: (run, context) => {
    const notice = noticeOf(run, context);
    const template = context.notify?.template;
    const value =
      template === undefined ? message(notice) : fillTemplate(template, notice, escapeSlack);
    return { text: `${JSON.stringify(value)}\n` };
  },
};

function message(notice: Notice): object {
  const {
    agent,
    status,
    total,
    passed,
    failed,
    errors,
    failures,
    failures_left_out,
    branch,
    commit,
    url,
    previous_status,
    part,
  } = notice;
  const where = [branch, commit?.slice(0, 8)]
    .filter((part) => part !== null && part !== undefined)
    .join(' ');
  const was =
    previous_status === null || previous_status === status ? '' : ` (was: ${previous_status})`;
  const head = `${ICONS[status] ?? ':grey_question:'} *AgentCI ${escapeSlack(agent)}: ${status}*${was}${where === '' ? '' : ` on ${escapeSlack(where)}`}`;
  const counts = `${passed} of ${total} passed, ${failed} failed, ${errors} could not be judged${part === null ? '' : ` (${part})`}`;
  const lines = failures.map(({ id, message: why }) => `• ${escapeSlack(id)}: ${escapeSlack(why)}`);
  if (failures_left_out > 0) lines.push(`and ${failures_left_out} more`);
  const link = url === null ? '' : `\n<${escapeSlack(url).replaceAll('|', '%7C')}|the job>`;
  return {
    text: `${head}\n${counts}`,
    blocks: present([
      section(`${head}\n${counts}${link}`),
      lines.length === 0 ? undefined : section(fitting(lines)),
    ]),
  };
}

/** The first whole lines that fit. */
function fitting(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    if (text.length + line.length > MAX_SECTION) return `${text}…`;
    text += `${line}\n`;
  }
  return text.trimEnd();
}

const section = (text: string): object => ({ type: 'section', text: { type: 'mrkdwn', text } });
