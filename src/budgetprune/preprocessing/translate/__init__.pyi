from .translation import translate as translate
