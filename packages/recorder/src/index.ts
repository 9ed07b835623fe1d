export {
  ANSWER,
  callTool,
  INSTRUCTIONS,
  MODEL,
  QUESTION,
  REPLIES,
  TOOLS,
  tryTool,
} from './story.ts';
