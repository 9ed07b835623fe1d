import { fillTemplate } from './notify/fill-template.ts';
import { noticeOf } from './notify/notice.ts';
import type { Reporter } from './reporter.ts';

const WEBHOOK_SCHEMA = 'agentci.notice/1';

export const reporter: Reporter = {
  name: 'webhook',
  summary: 'a short JSON document, sent to the URL in AGENTCI_WEBHOOK_URL',
  extensions: [],
  machineReadable: true,
  render: (run, context) => {
    const notice = noticeOf(run, context);
    const template = context.notify?.template;
    const value =
      template === undefined
        ? { schema: WEBHOOK_SCHEMA, ...notice }
        : fillTemplate(template, notice);
    return { text: `${JSON.stringify(value)}\n` };
  },
};
