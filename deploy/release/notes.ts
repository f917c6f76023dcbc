interface Commits {
  /** The tag of the release before, such as `v0.1.0`; undefined for the first one. */
  since: string | undefined;
  /** Titles, "folder: what a user sees", newest first. */
  titles: readonly string[];
}

/** The text of a release: what CHANGELOG.md says of it, and the commits since the release before, by folder. */
export function releaseNotes(version: string, changelog: string, { since, titles }: Commits): string {
  const written = sectionOf(changelog, version) ?? sectionOf(changelog, 'Unreleased');
  if (!written) throw new Error(`expected a section [${version}] or [Unreleased] in CHANGELOG.md, found neither`);
  const byFolder = Map.groupBy(titles.map(partsOf), ([folder]) => folder);
  const lists = [...byFolder]
    .filter(([folder]) => !/^tests?\b/.test(folder))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, parts]) => `- **${folder}**: ${parts.map(([, text]) => text).join('; ')}`);
  const commits = since && lists.length > 0 ? [`## Commits since ${since}`, '', ...lists, ''] : [];
  return [`# ot-functions ${version}`, '', written, '', ...commits].join('\n');
}

const partsOf = (title: string): [folder: string, text: string] => {
  const colon = title.indexOf(': ');
  return colon < 0 ? ['other', title] : [title.slice(0, colon), title.slice(colon + 2)];
};

/** The section of a version in CHANGELOG.md, without its heading. */
function sectionOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## \[)/m);
  const found = sections.find((section) => section.startsWith(`## [${version}]`));
  return found?.slice(found.indexOf('\n') + 1).trim();
}
