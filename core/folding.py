"""Templates whose constant parts are rendered once, when they are loaded, and no more at every page.

`{% translate "…" %}`, `{% blocktranslate %}` without variables and `{% static "…" %}` give the same text each time, for
one language. So a template is kept once for each language, with that text in the place of the tags.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.staticfiles.storage import StaticFilesStorage, staticfiles_storage
from django.template import Context, Node, Origin, Template, TemplateSyntaxError
from django.template.base import FilterExpression, NodeList, TextNode, TokenType
from django.template.defaulttags import CommentNode, IfNode, LoadNode
from django.template.library import InclusionNode
from django.template.loader_tags import BlockNode, IncludeNode
from django.template.loaders import cached
from django.template.loaders.base import Loader
from django.templatetags.i18n import BlockTranslateNode, LanguageNode, TranslateNode
from django.templatetags.static import StaticNode
from django.utils.translation import get_language


class Folding(Loader):
    """Folds what it compiles, before anybody else sees it."""

    def get_template(self, template_name: str, skip: list[Origin] | None = None) -> Template:
        """Compile a template and fold its constant parts."""
        template = super().get_template(template_name, skip)
        refuse_mixed_languages(template)
        if not self.engine.debug:  # with debugging, errors are shown at the tags they came from
            fold(template)
        return template


class Folded(cached.Loader, Folding):
    """Django's cached loader, with templates folded for the active language and kept apart by it.

    The cached loader compiles by the next class in line, which is `Folding`: what it keeps is folded already, so
    that no thread ever renders a template while another one changes it.
    """

    def cache_key(self, template_name: str, skip: list[Origin] | None = None) -> str:
        """Give the name under which a template is kept: one for each language."""
        return f"{get_language()} {super().cache_key(template_name, skip)}"


def fold(template: Template) -> None:
    """Put the text that constant tags give in the active language in their place."""
    _fold_list(template.nodelist, template)


def refuse_mixed_languages(template: Template) -> None:
    """Raise TemplateSyntaxError where a part of the template would be folded for another language than it is shown in.

    The block of a child is folded in the language the child is loaded in; what a tag includes stays the same for one
    render, so a variable must not name its language.
    """
    for spoken in template.nodelist.get_nodes_by_type(LanguageNode):
        is_named = isinstance(spoken, LanguageNode) and _is_constant(spoken.language)
        apart = (BlockNode,) if is_named else (BlockNode, IncludeNode, InclusionNode)
        if any(spoken.get_nodes_by_type(kind) for kind in apart):
            raise TemplateSyntaxError(
                f"{template.name}: a language tag must not hold a block, nor include anything if a variable names the "
                "language."
            )


def _fold_list(nodes: NodeList, template: Template) -> None:
    folded: list[Node] = []
    for node in nodes:
        text = _constant_text(node, template)
        if text is None:
            for inner in _lists_within(node):
                _fold_list(inner, template)
            folded.append(node)
        elif folded and type(folded[-1]) is TextNode:
            folded[-1] = _text_in_place_of(folded[-1], folded[-1].s + text)
        else:
            folded.append(_text_in_place_of(node, text))
    nodes[:] = folded  # in place: a child's blocks are also known by name


def _lists_within(node: Node) -> Iterator[NodeList]:
    if isinstance(node, LanguageNode):
        return  # another language than the one this is folded for
    if isinstance(node, IfNode):  # its `nodelist` is a copy
        yield from (nodes for _, nodes in node.conditions_nodelists)
        return
    for name in node.child_nodelists:
        inner = getattr(node, name, None)
        if isinstance(inner, NodeList):
            yield inner


def _text_in_place_of(node: Node, text: str) -> TextNode:
    new = TextNode(text)
    new.token = node.token
    new.origin = node.origin
    return new


def _constant_text(node: Node, template: Template) -> str | None:
    """What a node gives whatever the context; None if that is not certain."""
    if type(node) is TextNode:
        return node.s
    if type(node) in (LoadNode, CommentNode):
        return ""
    if not _is_constant_tag(node):
        return None
    try:
        # The tag itself is asked. What the page escapes is not known here, so both have to agree.
        texts = {_rendered(node, template, autoescape=escaping) for escaping in (True, False)}
    except ValueError:  # a file that a manifest lacks: the tag says so itself, to whoever comes by
        return None
    return texts.pop() if len(texts) == 1 else None


def _rendered(node: Node, template: Template, *, autoescape: bool) -> str:
    context = Context(autoescape=autoescape)
    with context.bind_template(template):
        return str(node.render(context))


def _is_constant_tag(node: Node) -> bool:
    # Exact types: what another package derives from them may look at the context.
    if type(node) is TranslateNode:
        return not node.asvar and _is_constant(node.filter_expression) and _is_constant(node.message_context)
    if type(node) is BlockTranslateNode:
        is_plain = all(token.token_type == TokenType.TEXT for token in node.singular)
        is_alone = not (node.extra_context or node.plural or node.counter or node.asvar)
        return is_plain and is_alone and _is_constant(node.message_context)
    if type(node) is StaticNode:
        # A storage elsewhere may sign its addresses, and for a while only. This one's are made once a process.
        return not node.varname and isinstance(staticfiles_storage, StaticFilesStorage) and _is_constant(node.path)
    return False


def _is_constant(expression: FilterExpression | None) -> bool:
    if expression is None:
        return True
    # What is written in quotes is a string, or a variable that holds it (where it is to be translated).
    return not expression.filters and isinstance(getattr(expression.var, "literal", expression.var), str)
