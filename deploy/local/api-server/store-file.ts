import { randomBytes } from 'node:crypto';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import type { ApiObject } from './objects.ts';

/** The file in which a store keeps its objects: a write survives a kill of the process. */
export interface StoreFile {
  load(): StoreContents;
  put(resource: string, object: ApiObject): void;
  /** Forgets an object whose end has this resourceVersion. */
  remove(resource: string, object: ApiObject, resourceVersion: number): void;
  /** Signs the tokens of this cluster; the same for as long as the file is. */
  readonly tokenKey: Buffer;
  close(): void;
}

/** All stored objects, and a resourceVersion that is not below any assigned one. */
export interface StoreContents {
  resourceVersion: number;
  objects: readonly { resource: string; object: ApiObject }[];
}

/** What the tables below look like; another number is another layout. */
const version = 1;

/** Marks the file as one of ours ("otcl" in SQLite's application_id). */
const applicationId = 0x6f74636c;

const tables = `
  CREATE TABLE objects (
    resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    resource_version INTEGER NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (resource, namespace, name)
  ) STRICT;
  CREATE TABLE cluster (id INTEGER PRIMARY KEY CHECK (id = 1), resource_version INTEGER NOT NULL, token_key BLOB NOT NULL) STRICT;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${version};
`;

// A power cut may take the last writes, though clients have seen their resourceVersions. These must never come again, so
// each start skips more of them than can be lost: SQLite forces its log to the disk at least once in a thousand pages.
const skippedAtStart = 10_000;

/**
 * Opens the file, or creates it. Each write is a transaction of its own that a killed process cannot
 * lose; a power cut may lose the last ones, and never tears one apart. Throws what to do about a file of another version.
 */
export function openStoreFile(file: string): StoreFile {
  const database = opened(file);
  const put = database.prepare(`
    INSERT INTO objects (resource, namespace, name, resource_version, json) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET resource_version = excluded.resource_version, json = excluded.json`);
  const remove = database.prepare('DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?');
  const advance = database.prepare('UPDATE cluster SET resource_version = ?');
  return {
    load: () => load(database, file),
    put: (resource, object) => {
      const { namespace = '', name, resourceVersion } = object.metadata;
      put.run(resource, namespace, name, Number(resourceVersion), JSON.stringify(object));
    },
    remove: (resource, { metadata: { namespace = '', name } }, resourceVersion) =>
      together(database, () => {
        remove.run(resource, namespace, name);
        advance.run(resourceVersion);
      }),
    tokenKey: Buffer.from(one(database, 'SELECT token_key AS value FROM cluster') as Uint8Array),
    close: () => database.close(),
  };
}

function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    prepare(database, file);
    return database;
  } catch (error) {
    database.close();
    throw isForeign(error) ? unreadable(file, 'something that is no SQLite file') : error;
  }
}

function prepare(database: DatabaseSync, file: string) {
  const isEmpty = one(database, 'SELECT count(*) AS value FROM sqlite_schema') === 0;
  if (!isEmpty && one(database, 'PRAGMA application_id') !== applicationId)
    throw unreadable(file, 'a database of something else');
  const found = Number(one(database, 'PRAGMA user_version'));
  if (!isEmpty && found !== version) throw unreadable(file, `version ${found}`);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  if (!isEmpty) return;
  together(database, () => {
    database.exec(tables);
    database.prepare('INSERT INTO cluster VALUES (1, 1, ?)').run(randomBytes(32));
  });
}

function load(database: DatabaseSync, file: string): StoreContents {
  const rows = database.prepare('SELECT resource, json FROM objects').all();
  const objects = rows.map(({ resource, json }) => ({
    resource: String(resource),
    object: parsed(String(json), file),
  }));
  const newest =
    'SELECT max(resource_version, (SELECT ifnull(max(resource_version), 0) FROM objects)) AS value FROM cluster';
  const last = Number(one(database, newest));
  const resourceVersion = objects.length === 0 ? last : last + skippedAtStart;
  database.prepare('UPDATE cluster SET resource_version = ?').run(resourceVersion);
  return { resourceVersion, objects };
}

function parsed(json: string, file: string): ApiObject {
  try {
    return JSON.parse(json) as ApiObject;
  } catch {
    throw unreadable(file, 'an object that is no JSON');
  }
}

function together(database: DatabaseSync, work: () => void) {
  database.exec('BEGIN');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The only value of the only row; for a query that has one. */
function one(database: DatabaseSync, query: string): SQLOutputValue | undefined {
  return Object.values(database.prepare(query).get() ?? {})[0];
}

// SQLite's result codes for a file that is damaged (11) or of another format (26).
const isForeign = (error: unknown) =>
  error instanceof Error && 'errcode' in error && (error.errcode === 11 || error.errcode === 26);

const unreadable = (file: string, found: string) =>
  new Error(
    `${file}: expected a cluster of version ${version}, found ${found}: start the version of this project that wrote it, or start with an empty cluster (npm start -- --fresh)`,
  );
