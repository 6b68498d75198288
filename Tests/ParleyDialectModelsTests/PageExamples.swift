/// The examples by which apps of the Twake family document their models, transcribed as JSON.
enum PageExamples {
  private static let company = "ac1a0544-1dcc-11eb-bf9f-0242ac120004"
  private static let workspace = "ae6e73e8-504e-11eb-9a9c-0242ac120004"
  private static let channel = "2982dc0a-65aa-47ae-a13c-082b2e3cc2a9"
  private static let channels = "/companies/\(company)/workspaces/\(workspace)/channels"

  static let messageEvent = """
    {"name": "previous::channels/\(channel)/messages/updates",
     "data": {"client_id": "system", "action": "update",
       "message_id": "5828c718-b49e-11eb-8ae0-0242ac120003",
       "thread_id": "c920712e-b49d-11eb-8ed2-0242ac120003"}}
    """

  static let channelActivity = """
    {"action": "updated", "room": "\(channels)?type=public", "type": "channel_activity",
     "path": "\(channels)/\(channel)",
     "resource": {"company_id": "\(company)", "workspace_id": "\(workspace)", "id": "\(channel)",
       "last_activity": 1620987774000,
       "last_message": {"date": 1620987774000, "sender": "46a68a02-1dcc-11eb-95bd-0242ac120004",
         "sender_name": "First Last", "title": "📄 ch1 in TestCompany • WS1", "text": "Message 2"}}}
    """

  static let channelCreated = """
    {"action": "saved", "room": "\(channels)?type=public", "type": "channel",
     "path": "\(channels)/\(channel)",
     "resource": {"is_default": false, "archived": false, "members": [], "connectors": [],
       "last_activity": 1620987956000, "company_id": "\(company)", "workspace_id": "\(workspace)",
       "id": "\(channel)", "archivation_date": 0, "channel_group": "", "description": "",
       "icon": "📄", "name": "Primary channel", "owner": "46a68a02-1dcc-11eb-95bd-0242ac120004",
       "visibility": "public"}}
    """

  static let messageSummary = """
    {"date": 1621233242000, "sender": "46a68a02-1dcc-11eb-95bd-0242ac120004",
     "sender_name": "Firstname Lastname", "title": "General in TestCompany • Analytics",
     "text": "some text"}
    """
}
