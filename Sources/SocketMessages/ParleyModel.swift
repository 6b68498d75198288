// Messages use types of this module, so importers of SocketMessages get them too.
@_exported public import ParleyModel
