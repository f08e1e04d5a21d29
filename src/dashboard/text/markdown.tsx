import type { Nodes, Parents, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { ComponentChildren, JSX } from "preact";
import { useMemo } from "preact/hooks";

/**
 * Text of agents, rendered by building elements: nothing in it is ever parsed as HTML, and it loads nothing. An image
 * is shown as a link to it, raw HTML as the text that it is.
 */
export function Markdown({ text }: { text: string }) {
  const content = useMemo(() => {
    const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
    const addresses = new Map<string, string>();
    collectAddresses(tree, addresses);
    return childrenOf(tree, addresses);
  }, [text]);
  return <div class="prose">{content}</div>;
}

type Addresses = ReadonlyMap<string, string>;

function collectAddresses(node: Nodes, found: Map<string, string>): void {
  if (node.type === "definition") found.set(node.identifier, node.url);
  if ("children" in node) for (const child of node.children) collectAddresses(child, found);
}

function childrenOf(node: Parents, addresses: Addresses): ComponentChildren {
  return (node.children as RootContent[]).map((child) => elementOf(child, addresses));
}

function elementOf(node: RootContent, addresses: Addresses): ComponentChildren {
  const inner = () => childrenOf(node as Parents, addresses);
  switch (node.type) {
    case "text":
      return node.value;
    case "paragraph":
      return <p>{inner()}</p>;
    case "heading": {
      // The page has headings of its own above these.
      const Heading = `h${Math.min(6, node.depth + 2)}` as "h3";
      return <Heading>{inner()}</Heading>;
    }
    case "emphasis":
      return <em>{inner()}</em>;
    case "strong":
      return <strong>{inner()}</strong>;
    case "delete":
      return <del>{inner()}</del>;
    case "inlineCode":
      return <code>{node.value}</code>;
    case "code":
      return <Code text={node.value} />;
    case "html":
      return <code>{node.value}</code>;
    case "blockquote":
      return <blockquote>{inner()}</blockquote>;
    case "list":
      return node.ordered ? <ol start={node.start ?? 1}>{inner()}</ol> : <ul>{inner()}</ul>;
    case "listItem":
      return (
        <li>
          {typeof node.checked === "boolean" ? (node.checked ? "☑ " : "☐ ") : null}
          {inner()}
        </li>
      );
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "link":
      return <Outside href={node.url}>{inner()}</Outside>;
    case "linkReference":
      return <Outside href={addresses.get(node.identifier) ?? ""}>{inner()}</Outside>;
    case "image":
      return <Outside href={node.url}>{`image: ${node.alt || node.url}`}</Outside>;
    case "imageReference":
      return <Outside href={addresses.get(node.identifier) ?? ""}>{`image: ${node.alt ?? ""}`}</Outside>;
    case "table":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, by keyboard too
        <div class="scroll" tabIndex={0} role="group" aria-label="Table">
          <table>
            <tbody>{inner()}</tbody>
          </table>
        </div>
      );
    case "tableRow":
      return <tr>{inner()}</tr>;
    case "tableCell":
      return <td>{inner()}</td>;
    case "footnoteReference":
      return <sup>{node.identifier}</sup>;
    case "footnoteDefinition":
      return (
        <p>
          <sup>{node.identifier}</sup> {inner()}
        </p>
      );
    default:
      return null;
  }
}

export function Code({ text, label = "Code" }: { text: string; label?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, by keyboard too
    <pre tabIndex={0} role="group" aria-label={label}>
      <code>{text}</code>
    </pre>
  );
}

/** Leads out of the page, and tells nobody where from. Addresses that are no web or mail address stay text. */
function Outside({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}
