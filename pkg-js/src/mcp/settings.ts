/** What the command line and the environment say. A key comes by the environment alone: command lines are seen by every process. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { invalid } from '../errors.js';
import { show } from '../text.js';

export interface Settings {
  directory: string;
  name: string;
  userId: string;
  assistantId: string;
  embedder: 'builtin' | 'none';
  readOnly: boolean;
  chat: { baseURL: string; model: string; apiKey?: string } | undefined;
}

export const HELP = `memstrata-mcp: the memory of one user, served over stdio to clients of the Model Context Protocol.

  --store PATH       folder of the memory's files     MEMSTRATA_STORE       default: the user's data folder
  --name NAME        name of the database             MEMSTRATA_NAME        default: memory
  --user ID          whose memory it is               MEMSTRATA_USER        default: user
  --assistant ID     the assistant that remembers     MEMSTRATA_ASSISTANT   default: default
  --embedder KIND    builtin, or none: keywords only  MEMSTRATA_EMBEDDER    default: builtin
  --read-only        offers no tool that changes      MEMSTRATA_READ_ONLY=1
  --base-url URL     a model's OpenAI-compatible API  MEMSTRATA_BASE_URL    default: none, rules file what was said
  --model NAME       the model                        MEMSTRATA_MODEL
                     its key                          MEMSTRATA_API_KEY
  --help, --version
`;

type Env = { [name: string]: string | undefined };

export function readSettings(args: string[], env: Env): Settings | 'help' | 'version' {
  const given = parse(args);
  if (given.help) return 'help';
  if (given.version) return 'version';
  const of = (flag: 'store' | 'name' | 'user' | 'assistant' | 'embedder' | 'base-url' | 'model'): string | undefined => {
    const value = given[flag] ?? env[`MEMSTRATA_${flag.replace('-', '_').toUpperCase()}`];
    return value === '' ? undefined : value;
  };
  const embedder = of('embedder') ?? 'builtin';
  if (embedder !== 'builtin' && embedder !== 'none') throw invalid(`the embedder is "builtin" or "none", got ${show(embedder)}`);
  const [baseURL, model, apiKey] = [of('base-url'), of('model'), env.MEMSTRATA_API_KEY];
  if ((baseURL === undefined) !== (model === undefined)) throw invalid('a model needs both its address and its name: MEMSTRATA_BASE_URL and MEMSTRATA_MODEL');
  return {
    directory: of('store') ?? defaultFolder(env),
    name: of('name') ?? 'memory',
    userId: of('user') ?? 'user',
    assistantId: of('assistant') ?? 'default',
    embedder,
    readOnly: given['read-only'] ?? ['1', 'true'].includes(env.MEMSTRATA_READ_ONLY ?? ''),
    chat: baseURL === undefined || model === undefined ? undefined : { baseURL, model, ...(apiKey ? { apiKey } : {}) },
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args,
      options: { store: text, name: text, user: text, assistant: text, embedder: text, 'base-url': text, model: text, 'read-only': flag, help: flag, version: flag },
    }).values;
  } catch (error) {
    throw invalid(`${(error as Error).message}; --help lists what there is`);
  }
}

function defaultFolder(env: Env): string {
  if (process.platform === 'win32') return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'memstrata');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'memstrata');
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'memstrata');
}
