import { expect, test } from 'vitest';
import { isModelHost } from './providers.ts';

test.each(
  `api.openai.com api.openai.com. API.OpenAI.com eu.api.openai.com api.us.openai.com chatgpt.com x.openai.azure.com
  x.openai.azure.us x.openai.azure.cn bedrock-runtime.us-east-1.amazonaws.com bedrock-agent-runtime.us-east-1.amazonaws.com
  vpce-0a1b-c2.bedrock-runtime.us-east-1.vpce.amazonaws.com bedrock-mantle.us-east-1.api.aws api.githubcopilot.com
  api.individual.githubcopilot.com models.github.ai router.huggingface.co api-inference.huggingface.co api.deepinfra.com
  integrate.api.nvidia.com api.moonshot.ai api.moonshot.cn api.z.ai api.minimax.io gateway.ai.cloudflare.com
  api.replicate.com api.ai21.com api.studio.nebius.ai api.studio.nebius.com inference.baseten.co api.hyperbolic.xyz
  api.voyageai.com api.siliconflow.cn ark.cn-beijing.volces.com open.bigmodel.cn api.portkey.ai
  adb-1.azuredatabricks.net dbc-1.cloud.databricks.com`.split(/\s+/),
)('models answer at %s', (host) => expect(isModelHost(host)).toBe(true));

test.each([
  'github.com',
  'api.github.com',
  'pypi.org',
  'notopenai.com',
  'api.openai.com.example',
  's3.amazonaws.com',
])('no model is known at %s', (host) => expect(isModelHost(host)).toBe(false));
