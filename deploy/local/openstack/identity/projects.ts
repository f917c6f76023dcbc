import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { hasAskedTags, isAsked } from '../listing.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import type { Project } from './state.ts';
import { mustBeAdmin } from './tokens.ts';

const tag = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^,/]*$/, "expected neither '/' nor ','");
const Name = z.string().min(1).max(64);
const NewProject = z.object({
  project: z.object({
    name: Name,
    domain_id: z.string().default('default'),
    description: z.string().default(''),
    enabled: z.boolean().default(true),
    tags: z.array(tag).default([]),
  }),
});
const Tags = z.object({ tags: z.array(tag) });

/** Projects and their tags. */
export function projectRoutes(cloud: Cloud): Route[] {
  const { projects } = cloud.identity;
  const found = ({ params: { project = '' } }: Asked) => {
    const known = projects.get(project);
    if (!known) throw new Refusal(404, `Could not find project: ${project}.`);
    return known;
  };
  const change = (project: Project, changes: Partial<Project>) => {
    const changed = { ...project, ...changes };
    projects.set(project.id, changed);
    return changed;
  };
  const shown = (project: Project) => shownProject(cloud, project);
  return [
    route('GET /projects', 'listProjects', ({ caller, query }) => {
      mustBeAdmin(caller, 'identity:list_projects');
      const fitting = [...projects.values()].filter((project) => fits(project, query));
      return ok({ projects: fitting.map(shown), links: listLinks(cloud, '/projects') });
    }),
    route('POST /projects', 'createProject', ({ caller, body }) => {
      mustBeAdmin(caller, 'identity:create_project');
      const { project } = bodyAs(NewProject, body);
      mustBeFree(cloud, project.name);
      const made = { id: cloud.ids.hex(), ...project };
      projects.set(made.id, made);
      return ok({ project: shown(made) }, 201);
    }),
    route('GET /projects/:project', 'showProject', (asked) => {
      if (asked.caller.projectId !== asked.params.project) mustBeAdmin(asked.caller, 'identity:get_project');
      return ok({ project: shown(found(asked)) });
    }),
    // Keystone asks no other service: the objects of the project stay, without an owner.
    route('DELETE /projects/:project', 'deleteProject', (asked) => {
      mustBeAdmin(asked.caller, 'identity:delete_project');
      const { id } = found(asked);
      projects.delete(id);
      for (const each of cloud.identity.assignments)
        if (each.startsWith(`${id} `)) cloud.identity.assignments.delete(each);
      for (const [key, each] of cloud.identity.credentials)
        if (each.projectId === id) cloud.identity.credentials.delete(key);
      return done();
    }),
    route('PUT /projects/:project/tags', 'replaceProjectTags', (asked) => {
      mustBeAdmin(asked.caller, 'identity:update_project_tags');
      const { tags } = bodyAs(Tags, asked.body);
      return ok({ tags: change(found(asked), { tags }).tags });
    }),
    route('GET /auth/projects', 'listOwnProjects', ({ caller }) => {
      const own = [...projects.values()].filter((project) =>
        [...cloud.identity.assignments].some((each) => each.startsWith(`${project.id} ${caller.userId} `)),
      );
      return ok({ projects: own.map(shown), links: listLinks(cloud, '/auth/projects') });
    }),
  ];
}

function mustBeFree(cloud: Cloud, name: string) {
  if (![...cloud.identity.projects.values()].some((project) => project.name === name)) return;
  throw new Refusal(
    409,
    `Conflict occurred attempting to store project - it is not permitted to have two projects with either the same name or same id in the same domain: name is ${name}, project id ${cloud.ids.hex()}.`,
  );
}

const fits = ({ name, domain_id, tags }: Project, query: URLSearchParams) =>
  isAsked(query, 'name', name) && isAsked(query, 'domain_id', domain_id) && hasAskedTags(tags, query);

const shownProject = (cloud: Cloud, project: Project) => ({
  ...project,
  is_domain: false,
  parent_id: project.domain_id,
  options: {},
  links: { self: `${cloud.url}/identity/v3/projects/${project.id}` },
});

/** Keystone lists never have a second page here. */
export const listLinks = (cloud: Cloud, path: string) => ({
  next: null,
  self: `${cloud.url}/identity/v3${path}`,
  previous: null,
});
