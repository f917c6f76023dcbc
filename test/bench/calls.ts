import { operatorNamespace } from '../../shared/operator.ts';

/** Requests of one function, of one verb to one resource, and how the API server answered. */
export interface Calls {
  function: string;
  verb: string;
  /** `pods`, `vmdiskimages.pelotech.ot/status`. */
  resource: string;
  isDone: boolean;
  count: number;
}

/** The user that the API server sees when a function asks. */
export const accountOf = (functionName: string) => `system:serviceaccount:${operatorNamespace}:${functionName}`;

/** What the functions asked for, out of all that the API server counted; sources have accounts of their own. */
export function callsOf(requests: ReadonlyMap<string, number>, functions: readonly string[]): Calls[] {
  return [...requests].flatMap(([key, count]) => {
    const [user = '', verb = '', resource = '', status = ''] = key.split(' ');
    const name = functions.find((candidate) => accountOf(candidate) === user);
    return name === undefined ? [] : [{ function: name, verb, resource, isDone: status === '2xx', count }];
  });
}

const readVerbs = ['get', 'list'];

export const isRead = ({ verb }: Calls) => readVerbs.includes(verb);

export const countOf = (calls: readonly Calls[]) => calls.reduce((sum, { count }) => sum + count, 0);
